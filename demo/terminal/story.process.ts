import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesWith } from '../../test/support/processes.ts';
import { startDemo } from '../test-support/start.ts';
import { LABELS, TERMINAL } from '../words.ts';

/** On a busy machine; a kill that hits the bot in the act adds half a minute. */
const LIMIT_MS = 120_000;

/** The output without what differs from run to run. */
function plain(output: string): string {
  return output
    .replace(/^ *\d+\.\d s {2}/gm, '')
    .replace(/started (now|\d+ seconds? ago)/g, 'started AGO')
    .replace(/(?:today|tomorrow) \d\d:\d\d/, 'TIME')
    .replace(/\d+ s\b/g, 'N s')
    .replace(/\d+ pages so far/g, 'N pages so far')
    .replace(/[▰▱]+ \d+%/g, '▰▱ N%')
    .replace(/exported: \d+%/g, 'exported: N%')
    .replace(/se_\w{4}…\w{4}/, 'se_…')
    .replace(/-9 \d+/, '-9 PID')
    .replace(/[\d.]+ kB/, 'N kB')
    .replace(/docket-demo-\w+/g, 'docket-demo-X')
    .replace(/\d+(?: [A-Z]\w\w(?: 20\d\d)? )?–(?: )?\d+ [A-Z]\w\w 20\d\d/g, 'DATES');
}

describe.concurrent('the demo', () => {
  test('tells an export down to the bundle, a request to the agent and a digest, and leaves nothing but the bundle', {
    timeout: LIMIT_MS,
  }, async (context) => {
    const { ends, folder } = startDemo(context, ['--terminal']);
    const { code, output, processes, left } = await ends();
    expect({ code, processes, output }).toEqual({ code: 0, processes: [], output });

    const text = plain(output).replaceAll(folder, '/tmp');
    const lines = text.split('\n');
    for (const told of [PEOPLE, CARD, AGENT, DIGEST])
      expect(
        lines.filter((line) => told.includes(line)),
        text,
      ).toEqual(told);
    expect(text.startsWith(INTRODUCTION)).toBe(true);
    expect(text).toContain(BUNDLE);
    expect(text.endsWith(CONCLUSION)).toBe(true);
    expect(lines.filter((line) => /^Docket (posts|replies)/.test(line))).toHaveLength(TERMINAL.posts);
    expect(lines).toContain(`Docket edits ✎  └ ${TERMINAL.progress}`);

    expect(left).toEqual([expect.stringMatching(/^docket-demo-/)]);
    expect(readdirSync(join(folder, left[0] ?? ''))).toEqual(['docs.acme.com']);
    const bundle = join(folder, left[0] ?? '', 'docs.acme.com');
    const files = readdirSync(bundle, { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile())).toHaveLength(130);
    expect(readFileSync(join(bundle, 'index.html'), 'utf8')).toContain('<title>docs.acme.com</title>');
  });

  test('with a Docket that dies: says so, and ends what it left', async (context) => {
    const { prints, ends, folder } = startDemo(context, ['--terminal']);
    await prints(/Docket replies/);
    const bot = processesWith(folder).find(({ command }) => command.includes('src/app.ts'));
    process.kill(bot?.pid ?? Number.NaN, 'SIGKILL');
    const { code, output, processes, left } = await ends();
    expect({ code, processes, left }).toEqual({ code: 1, processes: [], left: [] });
    // What is noticed first depends on what was waited for: its end, or its silence.
    expect(output).toMatch(
      /The demo failed: waited for .*\nDocket (?:ended by itself \(SIGKILL\)|did not answer Slack as it should)/,
    );
  });

  test.for(['Docket demo', 'We kill Docket'])(
    'interrupted after "%s": stops everything',
    async (part, context) => {
      const { child, prints, ends } = startDemo(context, ['--terminal']);
      await prints(new RegExp(part));
      child.kill('SIGINT');
      // A second Ctrl-C of an impatient person changes nothing.
      await prints(/Stopping…/);
      child.kill('SIGINT');
      const { code, processes, left } = await ends();
      expect({ code, processes, left }).toEqual({ code: 130, processes: [], left: [] });
    },
  );
});

const INTRODUCTION = `Docket demo: an export, the docs agent, and a digest of how the docs are read. Nothing leaves this machine.

  Ana, Ben  two people of a stand-in Slack workspace, in its channel #docs
  Docket    the real bot, as a process of its own with its own Redis
  Platform  a stand-in docs platform that hosts docs.acme.com, with its docs agent and page views

Ana types       /docs-export docs.acme.com
`;

/** Messages are delivered independently of each other, so each of these lists has an order, but both together have none. */
const PEOPLE = [
  'Ana types       /docs-export docs.acme.com',
  'Ben types       /docs-export docs.acme.com',
  `Only Ben sees   ${TERMINAL.alreadyRuns}`,
  'We kill Docket  kill -9 PID, in the middle of the export',
  'We start it     A new process on the same data goes on, and nobody asks again.',
  `Docket replies  └ ${TERMINAL.exported}`,
  `Ana clicks      [${LABELS.download}]`,
];
const CARD = [
  `Docket posts    ${TERMINAL.cardQueued}`,
  `Docket edits ✎  ${TERMINAL.cardExporting}`,
  `Docket edits ✎  ${TERMINAL.cardDone}`,
  `Ana clicks      [${LABELS.download}]`,
];

const AGENT = [
  'Ana types       /docs-agent follow job_quickstart',
  'Ana replies     └ Also add error handling to the quickstart.',
];

const DIGEST = ['Ben types       /docs-digest last week'];

const BUNDLE = `Ana clicks      [${LABELS.download}]
                         Unpacked into /tmp/docket-demo-X/docs.acme.com:
                           index.html
`;

const CONCLUSION = `
Seen    1 start and 2 agent requests at the platform, ${TERMINAL.posts} messages, ${TERMINAL.mentions} mentions; killed once.
Bundle  130 files, to look at in a browser: file:///tmp/docket-demo-X/docs.acme.com/index.html
Next    npm test; then README.md, for a Slack workspace of your own.
`;
