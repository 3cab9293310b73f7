import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesWith } from '../../test/support/processes.ts';
import { startDemo } from '../test-support/start.ts';

describe.concurrent('npm run demo', () => {
  test('prints one address, and Ctrl-C stops everything and cleans up', async (context) => {
    const { child, prints, ends, folder } = startDemo(context, []);
    const url = await prints(/http:\/\/127\.0\.0\.1:\d+/);
    expect((await fetch(url)).status).toBe(200);
    const commands = processesWith(folder).map(({ command }) => command);
    for (const part of ['demo/bot/entry.ts', '-server']) expect(commands.join('\n')).toContain(part);
    child.kill('SIGINT');
    await prints(/Stopping…/);
    // A second one of an impatient person changes nothing.
    child.kill('SIGINT');
    const { code, output, processes, left } = await ends();
    expect({ code, processes, left }).toEqual({ code: 130, processes: [], left: [] });
    expect(output.match(/http:/g)).toHaveLength(1);
  });

  test('--keep leaves its data, and does not begin on them again', async (context) => {
    const kept = realpathSync(mkdtempSync(join(tmpdir(), 'kept-')));
    context.onTestFinished(() => rmSync(kept, { recursive: true, force: true }));
    const { child, prints, ends } = startDemo(context, ['--keep', kept]);
    await prints(/http:/);
    child.kill('SIGTERM');
    expect(await ends()).toMatchObject({ code: 143, processes: [], left: [] });
    expect(readdirSync(kept).sort()).toEqual(['docket.log', 'docket.yml', 'redis']);
    const again = await startDemo(context, ['--keep', kept]).ends();
    expect(again).toMatchObject({ code: 1, processes: [] });
    expect(again.output).toContain('--keep wants a new or an empty folder.');
  });

  test('an option that there is not', async (context) => {
    const { code, output } = await startDemo(context, ['--browse']).ends();
    expect(code).toBe(1);
    expect(output).toMatch(/^Unknown option '--browse'\n\nnpm run demo /);
  });

  test('--stand-ins prints the settings of a bot, and Ctrl-C ends them', async (context) => {
    const { child, prints, ends, folder } = startDemo(context, ['--stand-ins']);
    const settings = await prints(/SLACK_BOT_TOKEN=[\s\S]*PORT=3000/);
    await prints(/Ctrl-C/);
    for (const [, name = '', value = ''] of settings.matchAll(/^(\w+)=(.*)$/gm))
      expect(value, name).not.toBe('');
    const api = /SLACK_API_URL=(.*)/.exec(settings)?.[1] ?? '';
    const token = /SLACK_BOT_TOKEN=(.*)/.exec(settings)?.[1] ?? '';
    const answer = await fetch(`${api}auth.test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await answer.json()).toMatchObject({ ok: true });
    expect(readdirSync(folder)).toEqual([]);
    child.kill('SIGINT');
    expect(await ends()).toMatchObject({ code: 130, processes: [], left: [] });
  });
});
