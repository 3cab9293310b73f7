import type { ReactNode } from 'react';
import type { Question } from '../shell/page-context.ts';
import { Dialog } from './dialog.tsx';

export function Confirm({ question, answer }: { question: Question; answer(yes: boolean): void }): ReactNode {
  return (
    <Dialog title={question.title} onClose={() => answer(false)} small>
      <div className="dialog-body lines">{question.text}</div>
      <footer>
        <button type="button" className="button" onClick={() => answer(false)}>
          {question.no}
        </button>
        <button
          type="button"
          className={`button ${question.danger ? 'danger full' : 'primary'}`}
          onClick={() => answer(true)}
        >
          {question.yes}
        </button>
      </footer>
    </Dialog>
  );
}
