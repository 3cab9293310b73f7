// node scripts/size.mjs [FOLDER]: prints the size of the repository by folder; fails above the budget in its size.json.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'));
const read = (file) => readFileSync(join(root, file), 'utf8');
const find = (pattern) =>
  globSync(pattern, { cwd: root, exclude: (path) => path.includes('node_modules') }).sort();
const count = (file) => read(file).split('\n').length - 1;
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const total = (files) => sum(files.map(count));

/** The lines of a file without comments, blank lines and imports. */
function countCode(file) {
  const text = read(file);
  const { program, comments } = parseSync(file, text);
  const imports = program.body.filter(({ type }) => type === 'ImportDeclaration');
  const left = text.split('');
  for (const { start, end } of [...comments, ...imports]) left.fill(' ', start, end);
  return left
    .join('')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

const folderOf = (file) =>
  file.split('/').length > 2 ? file.split('/').slice(0, 2).join('/') : dirname(file);
const print = (label, lines, files) =>
  console.log(`${label.padEnd(24)}${String(lines).padStart(8)} lines${String(files).padStart(6)} files`);

const sizes = {};
const isDemoTest = (file) => /^demo\/(?:.*\.(?:test|process)\.ts$|test-support\/)/.test(file);
for (const top of ['src', 'test', 'demo']) {
  const found = find(`${top}/**/*.{ts,tsx,mts,mjs}`).filter((file) => !isDemoTest(file));
  // The demo's tests are in its own folder, and count as tests.
  const files = top === 'test' ? [...found, ...find('demo/**/*.{ts,tsx}').filter(isDemoTest)] : found;
  for (const [folder, own] of Map.groupBy(files, folderOf)) print(`  ${folder}`, total(own), own.length);
  sizes[`${top} lines`] = total(files);
  sizes[`${top} files`] = files.length;
  print(top, total(files), files.length);
}
const golden = find('test/outside/golden/*');
print('golden files', total(golden), golden.length);

const sources = find('src/**/*.ts');
sizes['src lines of code'] = sum(sources.map(countCode));
sizes['lines of the longest src file'] = Math.max(...sources.map(count));
const users = usersOfExports(sources);
sizes['src exports'] = users.size;
sizes['src exports used by one other file'] = [...users.values()].filter(({ size }) => size === 1).length;

const budget = JSON.parse(read('size.json'));
console.log('\nBudget (size.json):');
for (const [name, max] of Object.entries(budget)) {
  const size = sizes[name];
  const isBroken = !(size <= max);
  console.log(`${isBroken ? '✗' : '✓'} ${name}: ${size ?? 'not measured'} of ${max}`);
  if (isBroken) process.exitCode = 1;
}
if (process.exitCode)
  console.log('Above the budget: delete something, or say in the commit why size.json grows.');

/** Returns, by "file name" of each export, the other files that import it by that name. */
function usersOfExports(files) {
  const users = new Map();
  const imported = [];
  for (const file of files) {
    const { module } = parseSync(file, read(file));
    const entries = module.staticExports.flatMap((one) => one.entries);
    for (const { exportName } of entries)
      if (exportName.kind !== 'None') users.set(`${file} ${exportName.name ?? 'default'}`, new Set());
    const from = (source, name, kind) =>
      imported.push([join(dirname(file), source), kind === 'Default' ? 'default' : name, file]);
    for (const { moduleRequest, entries } of module.staticImports)
      for (const { importName } of entries) from(moduleRequest.value, importName.name, importName.kind);
    for (const { moduleRequest, importName } of entries)
      if (moduleRequest) from(moduleRequest.value, importName.name, importName.kind);
  }
  for (const [source, name, file] of imported) users.get(`${source} ${name}`)?.add(file);
  return users;
}
