/** Forms of secrets: tokens by their beginning, authorization, and what follows the name of a secret. */
const SHAPES: readonly [RegExp, string][] = [
  // No word boundaries: in JSON, the `n` of an escaped line break comes right before the next line.
  [/x(?:ox[a-z]|app)-[\w.-]+/g, 'xox…'],
  [/(?:gh[a-z]_|github_pat_|glpat-|whsec_)[\w+/=-]+/g, '…'],
  [/(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 …'],
  [/((?:api[-_]?key|(?:auth|security)-token)["'\\]{0,4}\s{0,4}:\s{0,4}["'\\]{0,4})[^\s"'\\,;]+/gi, '$1…'],
  [/((?:signature|credential|token|ticket|secret|password|api[-_]?key|sig)=["']?)[^&\s"'\\,;]+/gi, '$1…'],
];

/** Returns a text without anything in the form of a secret. Each pattern runs in linear time. */
export const hideSecrets = (text: string): string =>
  SHAPES.reduce((clean, [shape, instead]) => clean.replace(shape, instead), text);
