export function contrastOf(element: unknown): number | undefined;
export function kindOf(button: unknown): string;
export function linesIn(element: unknown): number;
export function widerThanScreen(): boolean;
