// dpcache/templates in Node.js: kinds of line with named parameters, kept as the command line keeps
// them, and every argument that is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DpcacheError, Templates } from 'dpcache/templates';

const log = [
  'user alice logged in from 10.0.0.1 in 42 ms',
  'user bob logged in from 10.0.0.2 in 7 ms',
  'user bob logged out',
  'open ports: 22',
  'open ports: 22 80 443',
  '用户小王登录成功',
  '用户小李登录成功',
  '用户小李登录失败',
];

const refusal = async (call, code, pointer) => {
  const error = await Promise.resolve()
    .then(call)
    .then(() => assert.fail('nothing was refused'), (thrown) => thrown);
  assert.ok(error instanceof DpcacheError, String(error));
  assert.deepEqual([error.code, error.errors[0]?.pointer], [code, pointer]);
};

test('lines become templates with named parameters, values and examples', async () => {
  const templates = await Templates.create();
  const learned = templates.learnAll(log, 'app.log');
  assert.deepEqual(learned.map(({ id }) => id), [1, 1, 2, 3, 3, 4, 4, 5]);
  assert.deepEqual([templates.size, templates.lines], [5, 8]);
  const [first] = templates.list({ top: 1 });
  assert.equal(first.text, 'user <user> logged in from <ip> in <number> ms');
  assert.deepEqual(first.parameters.map(({ name }) => name), ['user', 'ip', 'number']);
  assert.deepEqual(first.parameters[0].values, [{ text: 'alice', count: 1 }, { text: 'bob', count: 1 }]);
  assert.deepEqual([first.examples, first.origin], [log.slice(0, 2), 'app.log']);
  assert.deepEqual(templates.list({ order: 'first' }).map(({ id }) => id), [1, 2, 3, 4, 5]);
  assert.equal(templates.get(9), null);
});

test('a line is matched without being learned', async () => {
  const templates = await Templates.create();
  templates.learnAll(log);
  const before = templates.save();
  assert.deepEqual(templates.match('user eve logged in from 10.0.0.9 in 1 ms').values, [
    { name: 'user', text: 'eve' },
    { name: 'ip', text: '10.0.0.9' },
    { name: 'number', text: '1' },
  ]);
  assert.equal(templates.match('a line of another kind'), null);
  assert.deepEqual(templates.save(), before);
});

test('learning goes on from what was saved as if it had never stopped', async () => {
  const whole = await Templates.create();
  let parts = await Templates.create();
  for (const line of [...log, ...log.toReversed()]) {
    assert.deepEqual(parts.learn(line), whole.learn(line));
    const next = await Templates.load(parts.save());
    parts.dispose();
    parts = next;
  }
  assert.deepEqual(parts.save(), whole.save());
});

test('damaged bytes are refused', async () => {
  const templates = await Templates.create();
  templates.learnAll(log);
  const bytes = templates.save();
  await refusal(() => Templates.load(bytes.slice(0, -1)), 'bad_snapshot', '');
  bytes[40] ^= 1;
  await refusal(() => Templates.load(bytes), 'bad_snapshot', '');
  await refusal(() => Templates.load('x'), 'bad_request', '');
});

test('settings count, and bad ones are refused by name', async () => {
  const fixed = await Templates.create({ codes: 'fixed', structure: 'plain', masks: 'number' });
  fixed.learnAll(['failed with code 200', 'failed with code 500', 'a=b', 'a=c']);
  assert.equal(fixed.size, 4);
  await refusal(() => Templates.create({ tau: 0.6 }), 'bad_config', '/tau');
  await refusal(() => Templates.create({ tau: 'x' }), 'bad_request', '/tau');
  await refusal(() => Templates.create({ codes: 'x' }), 'bad_request', '/codes');
  await refusal(() => Templates.create({ masks: 'x' }), 'bad_config', '/masks');
  await refusal(() => Templates.create({ maxTemplates: 0 }), 'bad_config', '/maxTemplates');
  await refusal(() => fixed.learnAll(['x', 5]), 'bad_request', '/1');
  await refusal(() => fixed.learn(), 'bad_request', '/0');
});

test('disposed templates say so, and make room', async () => {
  const templates = await Templates.create();
  templates.dispose();
  templates.dispose();
  await refusal(() => templates.learn('x'), 'disposed', '');
});
