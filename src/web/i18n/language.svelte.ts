/** The language of the page: the reader's choice, else the browser's. */
import { keep, kept } from '../frame/settings.svelte.ts'

export type Language = 'en' | 'ja'

const asLanguage = (text: string | null | undefined): Language | undefined =>
  text?.startsWith('ja') ? 'ja' : text?.startsWith('en') ? 'en' : undefined

const first =
  asLanguage(kept('language')) ?? navigator.languages.map(asLanguage).find((one) => one !== undefined) ?? 'en'
let current = $state<Language>(first)
document.documentElement.lang = first

export const language = {
  get current(): Language {
    return current
  },
  /** For numbers and dates. */
  get locale(): string {
    return current === 'ja' ? 'ja-JP' : 'en'
  },
  choose(next: Language): void {
    current = next
    keep('language', next)
    document.documentElement.lang = next
  },
}

/** Texts in both languages, whole: what one has the other must have. Reading one in a component follows the language. */
export function sayings<Texts extends object>(en: Texts, ja: NoInfer<Texts>): Texts {
  return new Proxy(en, {
    get: (_, name) => Reflect.get(current === 'ja' ? ja : en, name),
  })
}

/** `1 line`, `2,000 lines`, `17k lines`. */
export function many(count: number | string, one: string, more: string): string {
  const text = count.toLocaleString('en')
  return `${text} ${text === '1' ? one : more}`
}
