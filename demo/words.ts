// What Docket's messages say, as far as the demo's stories and tests look for it. One place to change when words change.

/** The labels of Docket's buttons. */
export const LABELS = {
  download: 'Download',
  deploy: 'Deploy to production',
  helmValues: 'Helm values',
  newLink: 'New link',
  buildPreview: 'Build preview',
  buildAgain: 'Build again',
  openPreview: 'Open preview',
  askAgent: 'Ask the agent',
  /** Submits the form that [Ask the agent] opens. */
  ask: 'Ask',
  setUp: 'Set up',
  sendQuoted: 'Send with 2 messages',
} as const;

/** Parts of Docket's messages, of their spoken text or of what they show. */
export const SAYS = {
  exporting: /Exporting · docs\.acme\.com/,
  /** The card of the export of this version. */
  cardOf: (version: string) => new RegExp(`docs\\.acme\\.com ${version}`),
  progress: /Exporting\b.*\d ?%/,
  /** The final message of an export. */
  exported: /Exported · .+ pages, /,
  /** The card of an export that is done. */
  exportedCard: /Exported · docs\.acme\.com/,
  live: /Live on production/,
  deployFailed: /Not deployed to production/,
  agentCard: /reply in the thread to ask the agent/,
  agentReady: /Ready/,
  agentFailed: /The agent couldn't finish/,
  /** The final message of a request that has one. */
  pullRequest: /Pull request[\s\S]* took /,
  /** The pull request that came of a row, in the thread of the digest. */
  pullRequestOfRow: /Pull request · .*acme\/docs#\d+>? · /,
  /** A request that comes while the agent works. */
  waiting: /Waiting · /,
  /** The final message of this request. */
  resultOf: (request: string) => new RegExp(`Pull request updated[\\s\\S]*${request}`),
  checksFailed: /Checks failed/,
  /** The last message about a pull request. */
  merged: /Merged/,
  /** A card and a result say so, too. */
  mergedBy: /merged by ben/,
  /** What the weekly digest says of a request whose pull request was merged. */
  since: /Since \S*acme\/docs#\d+/,
  previewReady: /Preview ready/,
  previewFailed: /Preview failed/,
  previewOld: /Preview out of date/,
  earlierMessages: /Send the .*messages.*, too\?/,
  digest: /\d views/,
  /** What screen readers say of it, and of no message below it. */
  digestSpoken: /Digest of docs\.acme\.com, .*\d views/,
  /** The private word, after the post to the channel: from then on, the digest has its days. */
  digestSetUp: /first one /,
  /** The heading of the searches in a digest. */
  searched: 'Searched, nothing clicked',
} as const;

/** What the story in the terminal waits for and counts, and what its test reads in its output. */
export const TERMINAL = {
  exportCardDone: /^✅ Exported · \S+ · \d+ pages\n/,
  agentReady: '✅ Ready · ',
  agentWorking: '⏳ Working · "',
  searchSent: '⏳ Working · "Readers',
  pullRequestOfSearch: 'For "Readers',
  askedAboutSearch: (search: string) => `Asked the agent · "${search}"`,
  posts: 14,
  mentions: 3,
  alreadyRuns: 'docs.acme.com is already being exported: N%, requested by ana N s ago.',
  exported: '✅ @ana Exported · docs.acme.com · 128 pages, N kB, took N s',
  cardQueued: '🕒 Queued · docs.acme.com',
  cardExporting: '⏳ Exporting · docs.acme.com',
  cardDone: '✅ Exported · docs.acme.com · 128 pages',
  progress: '⏳ Exporting · ▰▱ N% · N pages so far · started AGO',
} as const;
