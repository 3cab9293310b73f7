/** At signs, also as an address of a page has them. */
const atSigns = /[@＠﹫]|%(?:25)?40/gu;

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Something, an at sign, and a domain. Packages with a scope or a version (`@acme/sdk`, `sdk@1.2`) are none. */
const address = /[^\s@/]@[^\s@/]+[.。．｡]\p{L}{2}/u;

/** Returns whether text holds an e-mail address. To be asked before the text is cut: half an address looks like none. */
export function holdsEmailAddress(text: string): boolean {
  // Most text has no at sign, and rows come by the ten thousand.
  if (text.search(atSigns) < 0) return false;
  return address.test(text.replace(invisible, '').replace(atSigns, '@'));
}
