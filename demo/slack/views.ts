import { noteCaused } from '../caused.ts';
import type { ViewDefinition } from './block-kit/view.ts';
import type { Block, Workspace } from './workspace.ts';

/** A modal on somebody's screen, or somebody's Home tab. */
export interface View {
  id: string;
  /** User id. */
  user: string;
  definition: ViewDefinition;
  blocks: Block[];
  hash: string;
  rootId: string;
  previousId: string | null;
  /** Shown beside the inputs after a submission was refused, by block id. */
  errors: Record<string, string>;
}

/** Modals lie on top of each other, at most three deep; Home is one per person. */
export interface Views {
  /** Opens a modal on top of what this person has open. */
  push(user: string, definition: ViewDefinition): View;
  publish(user: string, definition: ViewDefinition): View;
  replace(view: View, definition: ViewDefinition): void;
  /** The modals this person has open, the visible one last. */
  stackOf(user: string): View[];
  homeOf(user: string): View | undefined;
  find(match: { id?: string | undefined; externalId?: string | undefined }): View | undefined;
  /** Takes the visible modal away, or all of them. */
  pop(user: string, all?: boolean): void;
  json(view: View, values?: Record<string, unknown>): Record<string, unknown>;
}

export function createViews(workspace: Workspace): Views {
  const stacks = new Map<string, View[]>();
  const homes = new Map<string, View>();

  const stackOf = (user: string) => stacks.get(user) ?? [];
  const nameOf = (id: string) => workspace.users.find((user) => user.id === id)?.name ?? id;
  const newHash = () => `${workspace.newTs()}.hash`;

  function create(user: string, definition: ViewDefinition, below?: View): View {
    const id = workspace.newId('V');
    return {
      id,
      user,
      definition,
      blocks: definition.blocks,
      hash: newHash(),
      rootId: below?.rootId ?? id,
      previousId: below?.id ?? null,
      errors: {},
    };
  }

  return {
    stackOf,
    homeOf: (user) => homes.get(user),
    push(user, definition) {
      const stack = stackOf(user);
      const view = create(user, definition, stack.at(-1));
      stacks.set(user, [...stack, view]);
      noteCaused(`modal for ${nameOf(user)}`);
      workspace.changed();
      return view;
    },
    publish(user, definition) {
      const view = create(user, definition);
      homes.set(user, view);
      noteCaused(`Home of ${nameOf(user)}`);
      workspace.changed();
      return view;
    },
    replace(view, definition) {
      Object.assign(view, { definition, blocks: definition.blocks, hash: newHash(), errors: {} });
      noteCaused(`modal of ${nameOf(view.user)} updated`);
      workspace.changed();
    },
    find({ id, externalId }) {
      const all = [...[...stacks.values()].flat(), ...homes.values()];
      return all.find((view) =>
        id === undefined ? view.definition.external_id === externalId : view.id === id,
      );
    },
    pop(user, all = false) {
      stacks.set(user, all ? [] : stackOf(user).slice(0, -1));
      workspace.changed();
    },
    json(view, values = {}) {
      const { blocks: _, ...definition } = view.definition;
      return {
        private_metadata: '',
        callback_id: '',
        external_id: '',
        clear_on_close: false,
        notify_on_close: false,
        ...definition,
        id: view.id,
        team_id: workspace.team.id,
        blocks: view.blocks,
        state: { values },
        hash: view.hash,
        root_view_id: view.rootId,
        previous_view_id: view.previousId,
        app_id: workspace.bot.appId,
        app_installed_team_id: workspace.team.id,
        bot_id: workspace.bot.botId,
      };
    },
  };
}
