// A service log, invented: line by line what scripts/sample-log prints.
// What varies comes from a small generator with a fixed seed, and a template's share falls with its
// place in the list, as in real logs: a few kinds of line are most of them.

const kinds = 15;
const jobs = ['reindex', 'report', 'cleanup', 'rollup'];
const users = ['ada', 'grace', 'edsger', 'barbara', 'donald'];

export function serviceLog(lines: number): string[] {
  let state = 20240229;
  // Park & Miller's minimal generator; its products stay exact in a double.
  const random = (n: number): number => {
    state = (state * 16807) % 2147483647;
    return Math.trunc((state / 2147483647) * n);
  };
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? '';
  const hex = (digits: number): string => {
    let text = '';
    while (digits-- > 0) text += '0123456789abcdef'.charAt(random(16));
    return text;
  };
  const address = (): string => `10.${random(4)}.${random(256)}.${1 + random(254)}`;
  const client = (): string => `${address()}:${1024 + random(60000)}`;
  const uuid = (): string => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
  const templates: readonly (() => string)[] = [
    () => `INFO gateway: request ${uuid()} served in ${random(900)} ms`,
    () => `INFO gateway: client ${client()} connected`,
    () => `INFO orders: order ${100000 + random(900000)} accepted`,
    () => `INFO storage: wrote ${random(65536)} bytes to /var/lib/orders/part-${random(64)}.dat`,
    () => `INFO gateway: client ${client()} closed the connection`,
    () => `DEBUG cache: lookup of key 0x${hex(12)} missed`,
    () => `INFO scheduler: started job ${pick(jobs)} on worker ${random(8)}`,
    () => `INFO scheduler: finished job ${pick(jobs)} after ${1 + random(120)} s`,
    () => `WARN payments: provider answered slowly, waited ${500 + random(4000)} ms`,
    () => `WARN storage: disk /dev/sd${pick(['a', 'b', 'c'])} is ${80 + random(19)} % full`,
    () => `ERROR payments: card of customer ${1000 + random(9000)} was refused`,
    () => `INFO auth: user ${pick(users)} signed in from ${address()}`,
    () => `ERROR orders: retry ${1 + random(5)} of 5 for order ${100000 + random(900000)}`,
    () => `WARN auth: password of user ${pick(users)} expires in ${1 + random(14)} days`,
    () => `FATAL storage: checksum mismatch in block ${random(4096)}, replica taken out of service`,
  ];
  let total = 0;
  for (let i = 0; i < kinds; ++i) total += 1 / (i + 1);
  const two = (n: number): string => String(Math.trunc(n)).padStart(2, '0');
  let clock = 0;
  const out: string[] = [];
  for (let n = 0; n < lines; ++n) {
    clock += random(4);
    let share = (random(1000000) / 1000000) * total;
    let kind = 0;
    while (kind < kinds - 1 && (share -= 1 / (kind + 1)) >= 0) ++kind;
    const time = `${two((clock / 3600) % 24)}:${two((clock / 60) % 60)}:${two(clock % 60)}`;
    out.push(`2026-03-01T${time}Z ${templates[kind]?.() ?? ''}`);
  }
  return out;
}
