import { describe, expect, test } from 'vitest';
import { readYaml } from '../../src/config/yaml-file.ts';

describe('a YAML file', () => {
  test('becomes plain values, and tells the line of each', () => {
    const yaml = readYaml('# settings\na:\n  b: [x,\n    y]\n  c: 1.5\n"d e": null\nf: yes\n');
    expect(yaml.problems).toEqual([]);
    expect(yaml.value).toEqual({ a: { b: ['x', 'y'], c: 1.5 }, 'd e': null, f: 'yes' });
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 1], ['a', 'c'], ['d e'], ['f']].map(yaml.lineOf)).toEqual([
      1, 2, 3, 4, 5, 6, 7,
    ]);
  });

  test('tells the line around what is not there', () => {
    const yaml = readYaml('\na:\n  b: [x]\n');
    expect(yaml.lineOf(['a', 'b', 7, 'c'])).toBe(3);
    expect(yaml.lineOf(['a', 'z'])).toBe(2);
    expect(yaml.lineOf(['z'])).toBe(1);
  });

  test('may come from Windows, with a byte order mark', () => {
    const yaml = readYaml('\uFEFFa: 1\r\nb: 2\r\n');
    expect(yaml.value).toEqual({ a: 1, b: 2 });
    expect(yaml.lineOf(['b'])).toBe(2);
  });

  test.each(['', '# nothing yet\n', '---\n', 'null'])('may be empty: %j', (text) => {
    expect(readYaml(text)).toMatchObject({ value: null, problems: [] });
  });

  test('takes the keys as they are written, also those that YAML 1.1 would change', () => {
    const yaml = readYaml('%YAML 1.1\n---\non: no\n0123: a\ntrue: b\n~: c\n1.50: d\n');
    expect(yaml.value).toEqual({ on: 'no', '0123': 'a', true: 'b', '~': 'c', '1.50': 'd' });
  });

  test.each([
    ['a: @ana', 1, 4, 'no word may begin with this character. Put the word in quotes.'],
    ['a: [#docs]', 1, 5, 'a colon, a quote, a bracket or a space before # is missing. Add it.'],
    ['a: "x', 1, 6, 'a colon, a quote, a bracket or a space before # is missing. Add it.'],
    ['a:\n\tb: 1', 2, 1, 'a tab indents the line. Use spaces.'],
    [
      'a:\n  b: 1\n c: 2',
      3,
      1,
      'the indentation differs from the lines around it, or a bracket is open. Fix it.',
    ],
    ['a: [x', 1, 6, 'the indentation differs from the lines around it, or a bracket is open. Fix it.'],
    ['a: b: c', 1, 4, 'a second "name:" in one line. Give it a line of its own, or put the value in quotes.'],
    ['a: 1\n---\nb: 2', 2, 1, 'a second document begins. Remove the line with ---.'],
    ['a: 1\nb', 2, 1, 'a colon, a quote, a bracket or a space before # is missing. Add it.'],
    ['a\nb: 1', 1, 1, 'a name without a colon. Add the colon.'],
    ['"\\q": 1', 1, 2, 'a backslash in double quotes. Use single quotes.'],
    ['- a\nb: 1', 2, 1, 'this is not allowed here. Fix the indentation or punctuation.'],
  ])('%j is told with line %d and column %d: %s', (text, line, column, why) => {
    expect(readYaml(text)).toMatchObject({
      value: undefined,
      problems: [{ path: [], line, column, text: `is not YAML: ${why}` }],
    });
  });

  test.each(['[', '{a: '])('of nothing but %s is refused, however deep', (bracket) => {
    const [problem] = readYaml(bracket.repeat(50_000)).problems;
    expect(problem?.text).toBe('is not YAML: it is nested too deeply. Remove brackets.');
  });

  test('with doubled keys keeps the first and tells where both are', () => {
    const yaml = readYaml('a:\n  b: 1\n  c: 2\n  b: 3\n');
    expect(yaml.value).toEqual({ a: { b: 1, c: 2 } });
    expect(yaml.problems).toEqual([
      { path: ['a', 'b'], line: 4, text: 'appears twice, first in line 2. Keep one.' },
    ]);
  });

  test.each([
    ['a: &x 1\nb: *x', ['b'], 2, 'is an alias, which Docket does not read. Write the value out.'],
    ['a: &x [*x]', ['a', 0], 1, 'is an alias, which Docket does not read. Write the value out.'],
    ['a: !env X', ['a'], 1, 'has a tag, which Docket does not read. Remove the word with the !.'],
    ['? [a]\n: 1', [], 1, 'has a key that is not one word. Write each as name: value.'],
    ['a:\n  *x : 1', ['a'], 2, 'has a key that is not one word. Write each as name: value.'],
    ['a:\n  __proto__: {x: 1}', ['a', '__proto__'], 2, 'is a name that cannot be used. Choose another.'],
  ])('%j: %j, line %d, %s', (text, path, line, problem) => {
    expect(readYaml(text).problems).toEqual([{ path, line, text: problem }]);
  });

  test('changes nothing outside of it, whatever its keys', () => {
    const { value } = readYaml('__proto__: {polluted: yes}\nconstructor: {prototype: {polluted: yes}}\n');
    expect(value).toEqual({ constructor: { prototype: { polluted: 'yes' } } });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
