import { type Message, message, type Part } from '../../../slack/blocks.ts';
import { formatCount } from '../../../slack/text.ts';
import { pullRequestParts } from '../../pull-request-view.ts';
import { listedSearches, listedThumbs } from '../listed.ts';
import { askButtons, pagePart, queryText, timesText, wordsText } from './phrases.ts';
import type { EditionRun } from './record.ts';

/** Returns what readers looked for, line by line; a line without numbers from the platform is left out. */
export function readerParts(run: EditionRun): Message[] {
  const { questions } = run.readers ?? {};
  const parts: Message[] = [];
  const searches = listedSearches(run.readers);
  if (searches.length > 0) {
    const listed = searches.map(({ query, hits }): Part[] => [`${queryText(query)} ${timesText(hits)}`]);
    parts.push(line('Searched, nothing clicked', listed, askButtons(run, 'searches')));
  }
  const disliked = listedThumbs(run.readers);
  if (disliked.length > 0) {
    const listed = disliked.map(({ path, up, down }): Part[] => [
      pagePart(run.site, path),
      ` ${formatCount(up)} up, ${formatCount(down)} down`,
    ]);
    parts.push(line('More thumbs down than up', listed, askButtons(run, 'thumbs')));
  }
  if (questions !== undefined && questions.asked > 0)
    parts.push(
      message([[questionsText(questions)]], questions.unanswered > 0 ? askButtons(run, 'questions') : []),
    );
  const followUps = followUpParts(run);
  return followUps.length > 0 ? [...parts, message([followUps])] : parts;
}

function line(name: string, entries: Part[][], buttons: Parameters<typeof message>[1]): Message {
  const parts = entries.flatMap((entry, index) => [index === 0 ? ': ' : ' · ', ...entry]);
  return message([[{ bold: name }, ...parts]], buttons);
}

type Questions = NonNullable<NonNullable<EditionRun['readers']>['questions']>;

function questionsText({ asked, unanswered, category, before }: Questions): string {
  const percent = (all: { asked: number; unanswered: number }) =>
    `${Math.round((100 * all.unanswered) / all.asked)}%`;
  const was = before !== undefined && before.asked > 0 ? `, was ${percent(before)}` : '';
  const about =
    category === undefined || unanswered === 0 ? '' : `; most often about: ${wordsText(category, 60)}`;
  const counted = `${formatCount(unanswered)} of ${formatCount(asked)} questions`;
  return `The assistant could not answer ${counted} (${percent({ asked, unanswered })}${was})${about}`;
}

/** The results of requests under earlier digests. */
function followUpParts({ site, followUps, moreFollowUps = 0 }: EditionRun): Part[] {
  if (followUps.length === 0) return [];
  const parts = followUps.flatMap((one, index): Part[] => {
    const { subject, kind } = one;
    const name =
      kind === 'questions' ? subject : kind === 'search' ? queryText(subject) : pagePart(site, subject);
    return [index === 0 ? '' : ' · ', name, ...outcomeParts(one), numbersText(one)];
  });
  const more = moreFollowUps > 0 ? [` · and ${formatCount(moreFollowUps)} more`] : [];
  return ['Since last week: ', ...parts, ...more];
}

type FollowUp = EditionRun['followUps'][number];

const withoutTexts: Record<NonNullable<FollowUp['without']>, string> = {
  failed: ': the agent could not finish it',
  archived: ': its job was archived',
  unknown: ': its result is unknown',
};

function outcomeParts({ prLink, prText, without }: FollowUp): Part[] {
  if (prLink === undefined && prText === undefined)
    return [without === undefined ? ' got no pull request' : withoutTexts[without]];
  return [
    ' got ',
    ...pullRequestParts({ prLink, prText }, 'a pull request'),
    ' (the platform does not say whether it was merged)',
  ];
}

function numbersText({ kind, before, after }: FollowUp): string {
  if (before === undefined || after === undefined) return '';
  const unit = {
    page: 'views',
    thumbs: 'thumbs down',
    search: 'searches without a click',
    questions: 'of them',
  }[kind];
  return `; ${formatCount(before)} ${unit} → ${after === 'unlisted' ? 'no longer listed' : formatCount(after)}`;
}
