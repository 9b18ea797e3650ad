/** Filters, sorting and search that the reader saved under a name, in this browser. */
import type { UrlQuery } from '../navigation/address.ts'
import { readBrowserPreference, saveBrowserPreference } from '../settings/preferences.svelte.ts'

export interface SavedView {
  readonly name: string
  readonly query: UrlQuery
}

const PREFERENCE = 'views'

/** What is stored may come from another version: everything else is dropped. */
export function parseSavedViews(stored: string | null): readonly SavedView[] {
  try {
    const list: unknown = JSON.parse(stored ?? '[]')
    return Array.isArray(list) ? list.filter(isSavedView) : []
  } catch {
    return []
  }
}

function isSavedView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('query' in value)) return false
  const { name, query } = value
  return (
    typeof name === 'string' &&
    typeof query === 'object' &&
    query !== null &&
    Object.values(query).every((one) => typeof one === 'string')
  )
}

let views = $state.raw(parseSavedViews(readBrowserPreference(PREFERENCE)))

function store(next: readonly SavedView[]): void {
  views = next
  saveBrowserPreference(PREFERENCE, next.length === 0 ? null : JSON.stringify(next))
}

export const savedViews = {
  get all(): readonly SavedView[] {
    return views
  },
  /** Replaces a view of the same name. */
  save(view: SavedView): void {
    store([...views.filter(({ name }) => name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name)))
  },
  remove(name: string): void {
    store(views.filter((view) => view.name !== name))
  },
}
