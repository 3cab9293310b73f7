import packageJson from '../../package.json' with { type: 'json' };

// Imported first: under an older Node, other modules would fail with errors that name no fix.
const majorOf = (text: string) => Number(/\d+/.exec(text)?.[0]);
const oldest = majorOf(packageJson.engines.node);
if (majorOf(process.version) < oldest) {
  console.error(
    `Docket needs Node ${oldest} or newer; this is ${process.version}. Install Node ${oldest} from https://nodejs.org or with your version manager (nvm install ${oldest}).`,
  );
  process.exit(1);
}
