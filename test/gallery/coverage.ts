import { globSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

// A program of its own, since what was loaded before is not counted: prints, as JSON, what of the views no state of the
// gallery reaches. Node only blanks types, so that places are those of the source.

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What makes messages, modals and Home. */
const VIEWS = [
  'src/jobs/**/*view.ts',
  'src/jobs/status/alerts.ts',
  'src/commands/**/{modal,shortcut,ask}.ts',
  'src/slack/modals.ts',
];

/** A range of a file that was not run, and what stands there; `name` where it is a whole function. */
export interface Unreached {
  file: string;
  name?: string;
  source: string;
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
await import('./states.ts');
const { result } = await session.post('Profiler.takePreciseCoverage');

const unreached = globSync(VIEWS, { cwd: root })
  .sort()
  .flatMap((file): Unreached[] => {
    const script = result.find(({ url }) => url === `file://${root}${file}`);
    if (script === undefined) return [{ file, name: 'the whole file', source: '' }];
    const code = readFileSync(`${root}${file}`, 'utf8');
    return script.functions.flatMap(({ functionName, ranges }) =>
      ranges
        .filter(({ count }) => count === 0)
        .map(({ startOffset, endOffset }, _, all) => ({
          file,
          ...(functionName !== '' && all.length === ranges.length && { name: functionName }),
          source: code.slice(startOffset, endOffset),
        })),
    );
  });
process.stdout.write(JSON.stringify(unreached));
