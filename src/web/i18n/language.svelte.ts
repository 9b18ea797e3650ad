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
  get locale(): string {
    return current === 'ja' ? 'ja-JP' : 'en'
  },
  choose(next: PageLanguage): void {
    current = next
    saveBrowserPreference('language', next)
    document.documentElement.lang = next
  },
}

type Wording = readonly [en: string, ja: string]
interface TextTable {
  readonly [name: string]: Wording | ((...values: never[]) => Wording) | TextTable
}
type ChosenTexts<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Wording
    ? string
    : Table[Name] extends (...values: infer Values) => Wording
      ? (...values: Values) => string
      : ChosenTexts<Table[Name]>
}

/** Texts in both languages, side by side. Reading one in a component follows the language. */
export function bilingualTexts<const Table extends TextTable>(table: Table): ChosenTexts<Table> {
  return new Proxy(table, {
    get: (_, name) => (Object.hasOwn(table, name) ? chosenText(table[String(name)]) : undefined),
  }) as unknown as ChosenTexts<Table>
}

function chosenText(entry: TextTable[string] | undefined): unknown {
  const at = current === 'ja' ? 1 : 0
  if (typeof entry === 'function') return (...values: never[]) => entry(...values)[at]
  return isWording(entry) ? entry[at] : entry && bilingualTexts(entry)
}

const isWording = (entry: Wording | TextTable | undefined): entry is Wording => Array.isArray(entry)

/** The text for a name that the server sent; an unknown name stands for itself. */
export const textFor = (texts: { readonly [name: string]: string }, name: string, otherwise = name): string =>
  texts[name] || otherwise

export const wholeNumber = (value: number): string => value.toLocaleString(language.locale)

/** With the day and the seconds, for a tooltip. */
export function fullDateTime(instant: string): string {
  const format =
    dateFormats.get(current) ?? new Intl.DateTimeFormat(language.locale, { dateStyle: 'full', timeStyle: 'medium' })
  dateFormats.set(current, format)
  return format.format(new Date(instant))
}

/** Creating a format is slow. */
const dateFormats = new Map<PageLanguage, Intl.DateTimeFormat>()

/** `1 line`, `2,000 lines`, `17k lines`. */
export function pluralize(count: number | string, one: string, more: string): string {
  const text = count.toLocaleString('en')
  return `${text} ${text === '1' ? one : more}`
}
