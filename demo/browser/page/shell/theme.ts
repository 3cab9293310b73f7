import { useEffect, useState } from 'react';

export type Theme = 'light' | 'dark';

/** The system's theme, until the visitor chooses another one. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const [theme, setTheme] = useState<Theme>(dark.matches ? 'dark' : 'light');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setTheme(system.matches ? 'dark' : 'light');
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  return [theme, setTheme];
}
