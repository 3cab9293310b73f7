/** At signs, also as an address of a page has them. */
const atSigns = /[@＠﹫]|%(?:25)?40/gu;

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Endings of files, none of which is a top-level domain. */
const fileEnding = '(?:[cm]?[jt]sx?|json|css|html?|xml|ya?ml|txt|png|jpe?g|gif|svg|webp|wasm)';

/**
 * Something, an at sign, and a domain to whose end the value goes. Packages with a scope, a version or a file
 * (`@acme/sdk`, `sdk@1.2`, `lodash@es.mjs`) are none.
 */
const address = new RegExp(
  String.raw`[^\s@/]@[^\s@/?&=#,;:]+[.。．｡](?!${fileEnding}\b)(?:xn--[\w-]+|\p{L}[\p{L}\p{M}]+)(?![.-]?[\p{L}\p{N}])`,
  'iu',
);

/** Returns whether text holds an e-mail address. To be asked before the text is cut: half an address looks like none. */
export function holdsEmailAddress(text: string): boolean {
  // Most text has no at sign, and rows come by the ten thousand.
  if (text.search(atSigns) < 0) return false;
  return address.test(text.replace(invisible, '').replace(atSigns, '@'));
}
