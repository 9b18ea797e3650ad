/** The language of the page: the reader's choice, else the browser's. */
import { readBrowserPreference, saveBrowserPreference } from '../settings/preferences.svelte.ts'

export type PageLanguage = 'en' | 'ja'

const parseLanguage = (text: string | null | undefined): PageLanguage | undefined =>
  text?.startsWith('ja') ? 'ja' : text?.startsWith('en') ? 'en' : undefined

const initialLanguage =
  parseLanguage(readBrowserPreference('language')) ??
  navigator.languages.map(parseLanguage).find((one) => one !== undefined) ??
  'en'
let current = $state<PageLanguage>(initialLanguage)
document.documentElement.lang = initialLanguage

export const language = {
  get current(): PageLanguage {
    return current
  },
  /** For numbers and dates. */
  get locale(): string {
    return current === 'ja' ? 'ja-JP' : 'en'
  },
  choose(next: PageLanguage): void {
    current = next
    saveBrowserPreference('language', next)
    document.documentElement.lang = next
  },
}

/** Texts in both languages, whole: what one has the other must have. Reading one in a component follows the language. */
export function bilingualTexts<Texts extends object>(en: Texts, ja: NoInfer<Texts>): Texts {
  return new Proxy(en, {
    get: (_, name) => Reflect.get(current === 'ja' ? ja : en, name),
  })
}

/** `1 line`, `2,000 lines`, `17k lines`. */
export function pluralize(count: number | string, one: string, more: string): string {
  const text = count.toLocaleString('en')
  return `${text} ${text === '1' ? one : more}`
}
