import { spawn } from 'node:child_process';

/** Opens an address in the browser of whoever sits at this terminal; nothing happens where there is none. */
export function openInBrowser(
  url: string,
  { env, platform, isTerminal }: { env: NodeJS.ProcessEnv; platform: NodeJS.Platform; isTerminal: boolean },
): void {
  const command = browserCommand({ env, platform, isTerminal });
  if (command === undefined) return;
  const [program, ...args] = command;
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  // The address is printed all the same.
  child.on('error', () => {});
  child.unref();
}

/** What opens a browser here, if anything does. */
function browserCommand(parts: {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  isTerminal: boolean;
}): [string, ...string[]] | undefined {
  const { env, platform, isTerminal } = parts;
  if (!isTerminal || env.CI || env.SSH_CONNECTION) return undefined;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}
