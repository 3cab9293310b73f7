const joiner = String.raw`[\u200C\u200D]`;

/** Scripts in which a joiner changes how letters look: the cursive ones, and those of South Asia and nearby. */
const joining = [
  ...['Adlm', 'Arab', 'Chrs', 'Mand', 'Mani', 'Mong', 'Nkoo', 'Ougr', 'Phag', 'Phlp', 'Rohg', 'Sogd', 'Syrc'],
  ...['Bali', 'Beng', 'Deva', 'Gran', 'Gujr', 'Guru', 'Java', 'Khmr', 'Knda', 'Mlym', 'Mymr', 'Newa', 'Orya'],
  ...['Sinh', 'Taml', 'Telu', 'Tibt', 'Tirh'],
]
  .map((script) => String.raw`\p{Script_Extensions=${script}}`)
  .join('');

const pictograph = String.raw`\p{Extended_Pictographic}[\uFE0E\uFE0F]?\p{Emoji_Modifier}?`;

/** Invisible characters that emoji and scripts need, from Unicode's UTS 51 and UAX 31. */
const keepPattern = [
  // Only the tag sequences of the flags of England, Scotland and Wales are recommended for interchange.
  String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
  String.raw`${pictograph}(?:\u200D${pictograph})*`,
  String.raw`[#*0-9]\uFE0F\u20E3`,
  String.raw`(?<=[${joining}])(?<!\p{Default_Ignorable_Code_Point})${joiner}`,
  String.raw`(?<=\p{Script_Extensions=Mong})(?<!\p{Default_Ignorable_Code_Point})[\u180B-\u180F]`,
].join('|');

const invisiblePattern = String.raw`\p{Default_Ignorable_Code_Point}|\p{Noncharacter_Code_Point}|[\uFFF9-\uFFFB]`;

/** Most texts: they contain no invisible characters. */
const onlyAscii = /^[\0-\x7F]*$/;

const invisibleOrKept = new RegExp(`(${keepPattern})|${invisiblePattern}`, 'gu');

/**
 * Returns text without invisible characters: tag characters, variation selectors, zero-width characters, those that
 * change the direction of text, and all others that Unicode calls ignorable. They can carry text to a program that no
 * person sees. Characters that emoji and scripts need stay: those within emoji and flags, one variation selector after
 * an emoji, and one joiner after a letter of a script that joins. It is idempotent.
 */
export function stripInvisible(text: string): string {
  if (onlyAscii.test(text)) return text;
  return text.replace(invisibleOrKept, (_, kept: string | undefined) => kept ?? '');
}
