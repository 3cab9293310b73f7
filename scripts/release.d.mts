export class ReleaseRefused extends Error {}
export function nextVersion(version: string, level: string): string;
export function changelogOf(changelog: string, version: string, date: string): string;
export function release(parts: {
  root: string;
  level: string;
  dryRun: boolean;
  date: string;
  say: (text: string) => void;
  check: () => boolean | Promise<boolean>;
  writeSchemas: () => void | Promise<void>;
  pinBase: () => string | undefined | Promise<string | undefined>;
}): Promise<string>;
