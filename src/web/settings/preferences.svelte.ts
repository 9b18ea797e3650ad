/** Preferences, stored in this browser. */

const STORAGE_PREFIX = 'fumi.'

/** A browser may disable storage. */
export function readBrowserPreference(name: string): string | null {
  try {
    return localStorage.getItem(STORAGE_PREFIX + name)
  } catch {
    return null
  }
}

export function saveBrowserPreference(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(STORAGE_PREFIX + name)
    else localStorage.setItem(STORAGE_PREFIX + name, value)
  } catch {}
}

export type Theme = 'auto' | 'light' | 'dark'

const parseTheme = (value: string | null): Theme => (value === 'light' || value === 'dark' ? value : 'auto')

let chosen = $state<Theme>(parseTheme(readBrowserPreference('theme')))

export const theme = {
  get chosen(): Theme {
    return chosen
  },
  choose(next: Theme): void {
    chosen = next
    saveBrowserPreference('theme', next === 'auto' ? null : next)
    applyTheme()
  },
  turn(): void {
    const isDark = chosen === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark'
    theme.choose(isDark ? 'light' : 'dark')
  },
}

function applyTheme(): void {
  if (chosen === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}
applyTheme()
