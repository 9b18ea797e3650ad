/** The router: the current address, and navigation without loading the page again. */
import { hrefOf, type PageAddress, parseAddress, type UrlQuery } from './address.ts'

let current = $state.raw<PageAddress>(parseAddress(location.href))

/** Reactive. */
export const here = {
  get path(): string {
    return current.path
  },
  get query(): UrlQuery {
    return current.query
  },
}

interface NavigationOptions {
  /** Replaces the history entry, for text that is being typed. */
  readonly replace?: boolean
}

/** The page that the reader left for a conversation, with its query. */
let origin = '/'

export function navigate(href: string, { replace = false }: NavigationOptions = {}): void {
  const address = parseAddress(href)
  if (hrefOf(address.path, address.query) === hrefOf(current.path, current.query)) return
  if (replace) history.replaceState(history.state, '', href)
  else history.pushState(null, '', href)
  const isOtherPage = address.path !== current.path
  if (isOtherPage && current.path !== '/session') origin = hrefOf(current.path, current.query)
  current = address
  if (isOtherPage) scrollTo(0, 0)
}

/** Leaves a conversation for the page from which it was opened, such as a search; for the list if it was opened by a link. */
export const goBack = (): void => navigate(origin)

/** Changes some query parameters; an empty text removes one. */
export function updateQuery(
  changes: { readonly [name: string]: string | undefined },
  options?: NavigationOptions,
): void {
  navigate(hrefOf(current.path, { ...current.query, ...changes }), options)
}

/** @returns a function that stops it */
export function followLinks(): () => void {
  const handleClick = (event: MouseEvent): void => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return
    if (link.pathname.startsWith('/api/') || link.hash !== '') return
    event.preventDefault()
    navigate(link.pathname + link.search)
  }
  const handlePopState = (): void => {
    current = parseAddress(location.href)
  }
  document.addEventListener('click', handleClick)
  addEventListener('popstate', handlePopState)
  return () => {
    document.removeEventListener('click', handleClick)
    removeEventListener('popstate', handlePopState)
  }
}
