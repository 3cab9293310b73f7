import { existsSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Returns why a file of settings cannot contain a value unquoted; docker would keep quotes. */
export const valueProblem = (value: string): string | undefined =>
  /[\s"'`#\\]|[^\x21-\x7e]/.test(value)
    ? 'It contains a space, a quote or another invalid character. Copy it again.'
    : undefined;

/**
 * Returns the text with a setting: in the line that sets it, else after the commented-out line, else at the end. All
 * other lines stay.
 */
export function withSetting(text: string, name: string, value: string): string {
  const line = `${name}=${value}`;
  const lines = text.split('\n');
  const set = lines.findLastIndex((one) => nameOf(one) === name);
  if (set >= 0) return lines.with(set, line).join('\n');
  const commented = lines.findLastIndex((one) => one.startsWith(`#${name}=`));
  if (commented >= 0) return lines.toSpliced(commented + 1, 0, line).join('\n');
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** Replaces a file atomically by one that only its owner can read. A link stays one. */
export function writePrivately(path: string, text: string): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const part = `${target}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, text, { mode: 0o600, flush: true });
  renameSync(part, target);
}

const nameOf = (line: string) => line.split('=', 1)[0]?.replace('export ', '').trim();
