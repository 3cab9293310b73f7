import { useEffect, useState } from 'react';

export type Theme = 'light' | 'dark';

/** The theme that the visitor chose, also the last time; else the system's. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [chosen, choose] = useState(() => localStorage.getItem('theme') as Theme | null);
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const theme = chosen ?? (isDark ? 'dark' : 'light');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setDark(system.matches);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  const keep = (wanted: Theme) => {
    localStorage.setItem('theme', wanted);
    choose(wanted);
  };
  return [theme, keep];
}
