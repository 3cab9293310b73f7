/** At signs, also in the forms that addresses of pages contain. */
const atSigns = /[@＠﹫]|%(?:25)?40/gu;

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** File endings, none of which is a top-level domain. */
const fileEnding = '(?:[cm]?[jt]sx?|json|css|html?|xml|ya?ml|txt|png|jpe?g|gif|svg|webp|wasm)';

/**
 * Text, an at sign, and a complete domain. Packages with a scope, a version or a file (`@acme/sdk`, `sdk@1.2`,
 * `lodash@es.mjs`) do not match.
 */
const address = new RegExp(
  String.raw`[^\s@/]@[^\s@/?&=#,;:]+[.。．｡](?!${fileEnding}\b)(?:xn--[\w-]+|\p{L}[\p{L}\p{M}]+)(?![.-]?[\p{L}\p{N}])`,
  'iu',
);

/** Returns whether text contains an e-mail address. Call it before the text is cut: half an address does not match. */
export function holdsEmailAddress(text: string): boolean {
  // Most text has no at sign, and there may be tens of thousands of rows.
  if (text.search(atSigns) < 0) return false;
  return address.test(text.replace(invisible, '').replace(atSigns, '@'));
}
