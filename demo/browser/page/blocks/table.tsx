import { type ReactNode, useState } from 'react';
import { type Node, nodeOf, nodesOf, stringOf } from './block.ts';
import { keyed } from './keyed.ts';
import { RichText } from './rich-text.tsx';

const PAGE_SIZE = 10;

function Cell({ of }: { of: Node }): ReactNode {
  return of.type === 'rich_text' ? <RichText of={of} /> : stringOf(of.text);
}

const rowsOf = (of: Node): Node[][] => (Array.isArray(of.rows) ? of.rows.map(nodesOf) : []);
const isNumber = ({ type }: Node) => type === 'raw_number';

/** A `table`: the first row is its head. */
export function Table({ of }: { of: Node }): ReactNode {
  const settings: unknown[] = Array.isArray(of.column_settings) ? of.column_settings : [];
  const align = (column: number) => stringOf(nodeOf(settings[column])?.align) ?? 'left';
  return <Rows rows={rowsOf(of)} align={align} header={-1} caption="Table" captionShown={false} />;
}

/** A `data_table`: with a caption, and pages. */
export function DataTable({ of }: { of: Node }): ReactNode {
  const [head = [], ...all] = rowsOf(of);
  const size = Number(of.page_size ?? PAGE_SIZE);
  const [page, setPage] = useState(0);
  const pages = Math.ceil(all.length / size);
  const align = (column: number) => (all[0]?.[column] && isNumber(all[0][column]) ? 'right' : 'left');
  return (
    <div>
      <Rows
        rows={[head, ...all.slice(page * size, (page + 1) * size)]}
        align={align}
        header={Number(of.row_header_column_index ?? -1)}
        caption={String(of.caption)}
        captionShown
      />
      {pages > 1 && (
        <div className="table-pages">
          <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous
          </button>
          <span>
            Page {page + 1} of {pages}
          </span>
          <button type="button" disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </div>
      )}
    </div>
  );
}

interface RowsProps {
  rows: Node[][];
  align(column: number): string;
  /** The column that names each row; -1 for none. */
  header: number;
  caption: string;
  captionShown: boolean;
}

function Rows({ rows, align, header, caption, captionShown }: RowsProps): ReactNode {
  const [head = [], ...body] = rows;
  const cell = (of: Node, column: number, scope?: 'col' | 'row') => {
    const Tag = scope ? 'th' : 'td';
    return (
      <Tag key={`${column} ${String(of.type)}`} className={align(column)} {...(scope && { scope })}>
        <Cell of={of} />
      </Tag>
    );
  };
  return (
    // A wide table moves within its message.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whatever scrolls has to be reached by keys.
    <section className="table" aria-label={caption} tabIndex={0}>
      <table>
        {captionShown && <caption>{caption}</caption>}
        <thead>
          <tr>{head.map((of, column) => cell(of, column, 'col'))}</tr>
        </thead>
        <tbody>
          {keyed(body).map(({ key, item: row }) => (
            <tr key={key}>
              {row.map((of, column) => cell(of, column, column === header ? 'row' : undefined))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
