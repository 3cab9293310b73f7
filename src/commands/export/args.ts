import { isSafeId } from '../../docs-api/paths.ts';
import type { Part } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { type Flag, readSlashText } from '../slash-text.ts';
import { readPaths, readVersion } from './options.ts';

/**
 * What a person asks for with `/docs-export`. `domain` and `project` are as typed; whoever goes on reads them.
 * `message` says what is wrong and the fix, in one line.
 */
export type ExportArgs =
  | {
      kind: 'start';
      domain: string | undefined;
      project: string | undefined;
      version: string | undefined;
      /** Nothing: every page. */
      paths: string[] | undefined;
      /** Whether the link goes to this person alone. */
      privately: boolean;
    }
  | { kind: 'watch'; jobId: string; project: string | undefined }
  | { kind: 'status' }
  | { kind: 'unclear'; message: Part[] };

const flags = {
  project: { takes: 'value', example: 'acme' },
  version: { takes: 'value', example: '"spring release"' },
  paths: { takes: 'list', example: '/guides,/api' },
  private: { takes: 'nothing' },
} satisfies Record<string, Flag>;

/** Reads what was typed after `/docs-export`. Never throws. */
export function readExportArgs(text: string): ExportArgs {
  const read = readSlashText(text, flags);
  if (read.kind === 'unclear') return read;
  const { args, values } = read;
  const [subcommand, ...rest] = args;
  if (subcommand?.toLowerCase() === 'watch') return readWatch(rest, values);
  if (subcommand?.toLowerCase() === 'status') return readStatus(rest, values);
  return readStart(args, values);
}

type FlagValues = ReadonlyMap<string, string>;

const unclear = (...message: Part[]): ExportArgs => ({ kind: 'unclear', message });

function readStart(args: string[], values: FlagValues): ExportArgs {
  if (args.length > 1) return tooManyArgs(values);
  const version = readIf(values.get('version'), readVersion);
  if (version?.kind === 'unclear') return unclear({ code: '--version' }, ': ', version.problem);
  const paths = readIf(values.get('paths'), readPaths);
  if (paths?.kind === 'unclear') return unclear({ code: '--paths' }, ': ', paths.problem);
  return {
    kind: 'start',
    domain: args[0],
    project: values.get('project')?.trim(),
    version: version?.version,
    paths: paths?.paths,
    privately: values.has('private'),
  };
}

const readIf = <Result>(text: string | undefined, read: (text: string) => Result) =>
  text === undefined ? undefined : read(text);

function tooManyArgs(values: FlagValues): ExportArgs {
  if (values.has('version'))
    return unclear('Type one domain, and quotes around a label of several words: ', {
      code: `--version ${flags.version.example}`,
    });
  const example = { code: '/docs-export docs.acme.com --private' };
  return unclear('Type one domain, and two dashes before each option, such as ', example, '.');
}

const watchExample = { code: '/docs-export watch se_3f9a77bd04c24a06' };

function readWatch(ids: string[], values: FlagValues): ExportArgs {
  const stray = [...values.keys()].find((name) => name !== 'project');
  if (stray !== undefined) return flagNotAllowed(stray, 'watch', watchExample);
  // The usage shows the id in pointed brackets, and some people type them.
  const jobId = ids[0]?.trim().replace(/^<([^<>|]*)>$/u, '$1') ?? '';
  if (jobId === '') return unclear('Which export? Type its job id, such as ', watchExample, '.');
  if (ids.length > 1) return unclear('Type one job id, such as ', watchExample, '.');
  if (!isSafeId(jobId) || /\s/u.test(jobId)) return notAnId(jobId, '', watchExample);
  if (/…|\.{3}/u.test(jobId)) return notAnId(jobId, ' but the short form of one', watchExample);
  return { kind: 'watch', jobId, project: values.get('project')?.trim() };
}

function notAnId(typed: string, instead: string, example: Part): ExportArgs {
  const shown = { code: cut(oneLine(typed.toWellFormed()), 60) };
  return unclear(shown, ` isn't a job id${instead}. Copy the whole id, such as `, example, '.');
}

function readStatus(more: string[], values: FlagValues): ExportArgs {
  const example = { code: '/docs-export status' };
  const [stray] = values.keys();
  if (stray !== undefined) return flagNotAllowed(stray, 'status', example);
  if (more.length > 0) return unclear('Type ', example, ' and nothing else.');
  return { kind: 'status' };
}

function flagNotAllowed(flag: string, subcommand: string, example: Part): ExportArgs {
  return unclear({ code: `--${flag}` }, ` doesn't go with ${subcommand}. Leave it out: `, example);
}
