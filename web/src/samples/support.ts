// Questions to a help desk, invented: each intent in several wordings, with courtesies, numbers and
// slips of the finger. Some intents differ in one word alone ("on", "off", "not"): the hard ones.
import { Random } from './random';

// Wordings of one intent stand together. {n}: a number, {p}: a product, {d}: a device.
const intents: readonly (readonly string[])[] = [
  ['How do I reset my password?', 'How can I reset my password?', 'I need to reset my password'],
  [
    'Where is my order {n}?',
    'Where is my order number {n}?',
    'Can you tell me where my order {n} is?',
  ],
  [
    'I was charged twice for order {n}',
    'Order {n} was charged twice',
    'I have been charged twice for order {n}',
  ],
  ['Please cancel my subscription', 'I want to cancel my subscription', 'Cancel my subscription'],
  ['Please do not cancel my subscription', 'I do not want to cancel my subscription'],
  ['How do I turn dark mode on?', 'How can I turn on dark mode?', 'Turn dark mode on'],
  ['How do I turn dark mode off?', 'How can I turn off dark mode?', 'Turn dark mode off'],
  [
    'The app crashes when I open {p}',
    'App crashes when opening {p}',
    'The app crashes each time I open {p}',
  ],
  ['I can sign in', 'Good news, I can sign in again'],
  ['I cannot sign in', 'I can not sign in any more', 'Why can I not sign in?'],
  [
    'Can I change the delivery address of order {n}?',
    'Please change the delivery address of order {n}',
  ],
  ['The code from the text message never arrives', 'I never get the code by text message'],
  ['How do I export my data?', 'Can I export all my data?', 'Is there a way to export my data?'],
  ['Do you ship to Norway?', 'Do you deliver to Norway?', 'Is shipping to Norway possible?'],
  ['My {d} does not show up in the list of devices', 'My {d} is not in the list of devices'],
  ['My discount code {n} does not work', 'The discount code {n} is not accepted'],
  ['My discount code {n} works now', 'The discount code {n} is accepted now'],
  ['How long is the warranty of the {d}?', 'What warranty does the {d} have?'],
  [
    'I would like a refund for order {n}',
    'Please refund order {n}',
    'Can I have a refund for order {n}?',
  ],
  ['The invoice for order {n} has the wrong name', 'Wrong name on the invoice for order {n}'],
  ['Notifications do not arrive on my {d}', 'I get no notifications on my {d}'],
  ['Too many notifications arrive on my {d}', 'I get too many notifications on my {d}'],
  ['How do I invite a colleague to {p}?', 'Can I invite a colleague to {p}?'],
  ['How do I remove a colleague from {p}?', 'Can I remove a colleague from {p}?'],
  ['Which languages does {p} support?', 'What languages are there in {p}?'],
  ['The export to spreadsheet has wrong dates', 'Dates are wrong in the spreadsheet export'],
  ['Is there a discount for schools?', 'Do schools get a discount?'],
  ['Sync has been stuck at {n} percent since yesterday', 'Sync is stuck at {n} percent'],
  ['Please delete my account', 'I want you to delete my account', 'How do I delete my account?'],
  ['When will {p} be back?', 'Is {p} down at the moment?', '{p} seems to be down'],
];
const products = ['calendar', 'notes', 'photo album', 'budget planner'];
const devices = ['phone', 'tablet', 'watch'];
const openings = ['', '', '', '', 'Hi, ', 'Hello, ', 'Hi there, '];
const endings = ['', '', '', '', ' Thanks!', ' Thank you', ' please help'];
// Asked once in a long while, each by one person: what a memory should notice.
const rare: readonly string[] = [
  'My cat walked over the keyboard and now everything is in Finnish',
  'Could the chart of spending be a pie for once?',
  'Your hold music is the best I have heard this year',
  'A parrot answers our support line, is that intended?',
  'The receipt printer prints lottery numbers, may I keep the winnings?',
  'Which typeface is on your posters in the station?',
];

/** One question of an intent, said in one of its ways. */
type Say = (wordings: readonly string[]) => string;

const sayer =
  (random: Random): Say =>
  (wordings) =>
    random
      .pick(wordings)
      .replace('{n}', () => String(1000 + random.below(9000)))
      .replace('{p}', () => random.pick(products))
      .replace('{d}', () => random.pick(devices));

export interface LabelledText {
  /** Which intent it is. */
  label: number;
  text: string;
}

/** Each intent as often, in any of its ways. */
export function labelledQuestions(count: number): LabelledText[] {
  const say = sayer(new Random(11));
  return Array.from({ length: count }, (_, i) => {
    const label = i % intents.length;
    return { label, text: say(intents[label] ?? []) };
  });
}

function slip(random: Random, text: string): string {
  const at = 1 + random.below(text.length - 2);
  return text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
}

export function supportQuestions(count: number): string[] {
  const random = new Random(7);
  const say = sayer(random);
  const out: string[] = [];
  let told = 0;
  while (out.length < count) {
    if (out.length > 100 && random.uniform() < 0.002 && told < rare.length) {
      out.push(rare[told++] ?? '');
      continue;
    }
    // Popularity falls with the place in the list: the square makes early ones likelier.
    const intent = intents[Math.floor(random.uniform() ** 1.6 * intents.length)] ?? [];
    let text = say(intent);
    if (random.uniform() < 0.04) text = slip(random, text);
    if (random.uniform() < 0.1) text = text.toLowerCase();
    out.push(random.pick(openings) + text + random.pick(endings));
  }
  return out;
}
