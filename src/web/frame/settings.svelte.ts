/** What the reader chose for this browser: kept here, never sent anywhere. */

const PREFIX = 'fumi.'

/** A browser may refuse to keep anything. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, value)
  } catch {}
}

export type Theme = 'auto' | 'light' | 'dark'

const asTheme = (value: string | null): Theme => (value === 'light' || value === 'dark' ? value : 'auto')

let chosen = $state<Theme>(asTheme(kept('theme')))

export const theme = {
  get chosen(): Theme {
    return chosen
  },
  choose(next: Theme): void {
    chosen = next
    keep('theme', next === 'auto' ? null : next)
    show()
  },
  /** From what is seen now to the other one. */
  turn(): void {
    const isDark = chosen === 'auto' ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark'
    theme.choose(isDark ? 'light' : 'dark')
  },
}

function show(): void {
  if (chosen === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}
show()
