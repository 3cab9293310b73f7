import { type FormEvent, type ReactNode, useState } from 'react';
import type { OpenView } from '../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { FormContext } from '../blocks/context.ts';
import { Around } from '../conversation/around.tsx';
import { usePage } from '../shell/page-context.ts';
import { Dialog } from './dialog.tsx';
import { missing, submitted, type Values } from './form.ts';

/** The modal on top. What is filled in stays while the app updates it, and while another one lies on it. */
export function Modal({ view }: { view: OpenView }): ReactNode {
  const { scene, act, place, problem } = usePage();
  const [filledByView, setFilled] = useState<Record<string, Values>>({});
  const [lacking, setLacking] = useState<Record<string, string>>({});
  /** Fields that were changed since the app said what is wrong with them. */
  const [corrected, setCorrected] = useState<Set<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const filled = filledByView[view.id] ?? {};
  const around = { scene, current: place === 'home' ? undefined : place?.conversation };
  const fill = (blockId: string, value: string | string[]) => {
    setLacking(({ [blockId]: _, ...others }) => others);
    setCorrected((before) => new Set(before).add(blockId));
    setFilled((before) => ({ ...before, [view.id]: { ...before[view.id], [blockId]: value } }));
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = missing(view.blocks, filled, around);
    setLacking(found);
    if (busy || Object.keys(found).length > 0) return;
    setBusy(true);
    setCorrected(new Set());
    await act({ do: 'submit', values: submitted(view.blocks, filled, around) });
    setBusy(false);
  };
  const close = () => void act({ do: 'close' });
  const wrong = Object.entries(view.errors).filter(([blockId]) => !corrected.has(blockId));
  return (
    <Dialog title={view.title} onClose={close}>
      <form noValidate onSubmit={submit}>
        <div className="dialog-body" key={view.id}>
          <FormContext value={{ values: filled, errors: { ...Object.fromEntries(wrong), ...lacking }, fill }}>
            <Around target={{ view: view.id }}>
              <Blocks blocks={view.blocks} />
            </Around>
          </FormContext>
          {problem !== undefined && (
            <p className="error" role="alert">
              {problem.text}
            </p>
          )}
        </div>
        <footer>
          <button type="button" className="button" onClick={close}>
            {view.close ?? 'Close'}
          </button>
          {view.submit !== undefined && (
            <button type="submit" className="button primary" disabled={busy}>
              {view.submit}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  );
}
