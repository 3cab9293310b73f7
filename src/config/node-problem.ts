import packageJson from '../../package.json' with { type: 'json' };

/** Returns the problem, with its fix, when Docket cannot run under this version of Node; else `undefined`. */
export function nodeProblem(version: string): string | undefined {
  const majorOf = (text: string) => Number(/\d+/.exec(text)?.[0]);
  const oldest = majorOf(packageJson.engines.node);
  if (majorOf(version) >= oldest) return undefined;
  return `Docket needs Node ${oldest} or newer; this is ${version}. Install Node ${oldest} from https://nodejs.org or with your version manager (nvm install ${oldest}).`;
}
