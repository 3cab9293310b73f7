import { noPageMessage, type PageNumbers, pagesMessage } from '../../../../src/jobs/digest/page-view.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { type GalleryState, post } from '../../state.ts';

const { id: digest, site, range } = anEdition();

const aPage = (path: string, changes: Partial<PageNumbers> = {}): PageNumbers => ({
  site,
  path,
  range,
  isLastWeek: true,
  now: { human: 310, ai: 215 },
  before: { human: 352, ai: 190 },
  weeks: [352, 310],
  thumbs: { up: 2, down: 9 },
  searches: [],
  digest,
  ...changes,
});

const SSO = '/guides/sso';
const clicked = [
  { query: 'sso okta', percent: 62 },
  { query: 'saml', percent: 0.4 },
  { query: 'single sign-on' },
  { query: 'idp', percent: 5 },
];
const none = { human: 0, ai: 0 };

const page = (name: string, changes: Partial<PageNumbers> = {}) =>
  post(`digest/page/${name}`, pagesMessage([{ site, pages: [aPage(SSO, changes)] }], 0));

const several = [
  aPage(SSO),
  aPage('/quickstart', { thumbs: undefined, digest: undefined }),
  aPage('/old/setup', { now: none, thumbs: undefined }),
];
const GLOBEX = 'docs.globex.com';
const ofGlobex = aPage(SSO, { site: GLOBEX });

export const pageStates: GalleryState[] = [
  page('all', { weeks: [400, 420, 470, 460, 410, 380, 352, 310], searches: clicked }),
  page('two weeks'),
  page('nobody', { now: none, before: none, weeks: [0, 0], thumbs: undefined, digest: undefined }),
  page('thumbs not known', { thumbs: 'unlisted' }),
  page('new', { before: none, thumbs: { up: 0, down: 1 }, searches: [{ query: 'sso' }] }),
  page('only AI before', { before: { human: 0, ai: 9 } }),
  page('an earlier week', { isLastWeek: false, before: undefined, weeks: [] }),
  post('digest/page/several', pagesMessage([{ site, pages: several }, { site: GLOBEX }], 3)),
  post(
    'digest/page/of two sites',
    pagesMessage(
      [
        { site, pages: [aPage(SSO)] },
        { site: GLOBEX, pages: [ofGlobex] },
      ],
      0,
    ),
  ),
  post('digest/page/no digest', pagesMessage([{ site }], 0)),
  post('digest/page/not now', pagesMessage([{ site, isPlanned: true }], 0)),
  post('digest/page/no site', noPageMessage([], false)),
  post('digest/page/no page of a site', noPageMessage([site, GLOBEX, 'help.acme.com', 'b.com'], false)),
  post('digest/page/typed no page', noPageMessage([site], true)),
];
