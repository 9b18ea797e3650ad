/** Addresses of the page: a path and its query. */

export type UrlQuery = { readonly [name: string]: string }

export interface PageAddress {
  /** `/`, `/session`, `/statistics` … */
  readonly path: string
  readonly query: UrlQuery
}

/** Omits empty values, so that one state has one address. */
export function hrefOf(path: string, query: { readonly [name: string]: string | undefined } = {}): string {
  const parameters = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  const search = new URLSearchParams(parameters).toString()
  return search === '' ? path : `${path}?${search}`
}

export function parseAddress(href: string): PageAddress {
  const url = new URL(href, 'http://page')
  return { path: url.pathname, query: Object.fromEntries(url.searchParams) }
}

export const sessionHref = (id: string, message?: string): string => hrefOf('/session', { id, at: message })
