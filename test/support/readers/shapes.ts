const fill = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

const repeated = [...'a0Zü😀 \n\t.,:;!?…-–_*~`´\'"“”‘’«»/\\|#@&=%<>()[]{}^\u200D\u200B\uFE0F\u202E\u0000'];

/** Units of what is repeated, between bars. */
const alternating = [
  'a ¦a.¦a,¦a-¦a/¦a"¦ "¦" ¦“a” ¦<>¦><¦<a¦`a¦*a¦*a ¦_a_¦~_*¦[]¦](¦[a](¦[[a](¦a=¦--¦ --a¦--a=¦ --a ',
  '="¦--a="¦ -a¦, ¦/, ¦ ,\t¦\u200D ¦a\u200D¦--project a ¦ --project=¦--project ¦--project \t',
  'follow ¦follow a ¦aside ¦… ¦...¦- ¦\n> ¦&amp;¦&gt;¦&lt;a&gt;¦<@U1> ¦<@U0BOT>¦<@U0BOT> ,¦<!here>',
  '<#C1|a>¦<!date^¦<<@U1¦```¦```a¦``` ¦http://¦https://a¦<http://a|¦://¦://a@¦@a¦a@b¦https://a?',
  '/pull/1¦/-/pull/¦/pull¦.git/¦%2f¦%2e/¦xoxb-¦xox¦Bearer ¦bearer¦%3A%2F%2F¦https%3A%2F%2F¦?sig=',
  '&X-a-sig¦adm_5ecret¦adm_5ecretKey012¦1:¦1.¦12/¦of ¦with args beginning with:¦\\"¦ü.¦。¦xn--',
  '{date}¦{a¦• ¦\r\n¦1. ¦😀 ¦a\u0301¦"a" \'b¦a\'s ',
].flatMap((units) => units.split('¦'));

const nested: [string, string][] = [
  ['(', ')'],
  ['[', ']'],
  ['<', '>'],
  ['“', '”'],
  ['「', '」'],
  ['"', '"'],
  ['`', '`'],
  ['*_', '_*'],
  ['> ', 'a'],
  ['--a="', '"'],
];

/** What stands at both ends, and what fills the space between them. */
const almost: [string, string, string][] = [
  ['', '"', 'a'],
  ['a', '"', 'a'],
  ['a', '/', 'a'],
  ['a', '.', 'a'],
  ['a', ' ', 'a'],
  ['a', '!', 'a'],
  ['a', '\u200D', 'a'],
  ['--project', ' ', '='],
  [' --project ', 'a', ' '],
  [' -', '-', 'project'],
  ['follow ', 'a', ' b'],
  ['follow a --project', ' ', ''],
  ['<', 'a', ''],
  ['<https://', 'a', ''],
  ['`', 'a', ''],
  ['```', '`a', ''],
  ['*', 'a', ' *'],
  ['[', 'a', '](b'],
  ['[a](', 'b', ' )'],
  ['https://', 'ü', '.de'],
  ['https://', 'a.', 'de'],
  ['https://a/', '/pull/1', 'x'],
  ['redis://:', 'a/', 'b'],
  ['Bearer', ' ', ''],
  ['?X-', 'a', ''],
  ['{', 'a', ''],
  ['1', '0', 'x'],
  ['1.', '0', 'x'],
];

/** Texts of any length, and what to call them. */
export const shapes: [string, (length: number) => string][] = [
  ...[...repeated, ...alternating].map((unit): [string, (length: number) => string] => [
    JSON.stringify(unit),
    (length) => fill(unit, length),
  ]),
  ...nested.map(([open, close]): [string, (length: number) => string] => [
    `${open}nested${close}`,
    (length) => fill(open, length / 2) + fill(close, length / 2),
  ]),
  ...almost.map(([before, between, after]): [string, (length: number) => string] => [
    JSON.stringify([before, between, after]),
    (length) => before + fill(between, length - before.length - after.length) + after,
  ]),
  // Runs of backticks, each longer than the one before.
  [
    'longer and longer',
    (length) => Array.from({ length: Math.sqrt(2 * length) }, (_, i) => `a${'`'.repeat(i)}`).join(''),
  ],
];
