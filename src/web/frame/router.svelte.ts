/** Where the reader is. Going somewhere changes the address bar; the back button changes it back. */
import { type Address, addressOf, hrefOf, type Query } from './address.ts'

let current = $state.raw<Address>(addressOf(location.href))

/** Reading it in a component follows the address. */
export const here = {
  get path(): string {
    return current.path
  },
  get query(): Query {
    return current.query
  },
}

interface Going {
  /** The place before is forgotten: for what is typed letter by letter. */
  readonly replace?: boolean
}

export function go(href: string, { replace = false }: Going = {}): void {
  const address = addressOf(href)
  if (hrefOf(address.path, address.query) === hrefOf(current.path, current.query)) return
  if (replace) history.replaceState(history.state, '', href)
  else history.pushState(null, '', href)
  const isElsewhere = address.path !== current.path
  current = address
  if (isElsewhere) scrollTo(0, 0)
}

/** The same place, with some of what is asked changed; an empty text takes a name away. */
export function ask(changes: { readonly [name: string]: string | undefined }, going?: Going): void {
  go(hrefOf(current.path, { ...current.query, ...changes }), going)
}

/** Links within the page do not load it again. @returns what ends it */
export function followLinks(): () => void {
  const clicked = (event: MouseEvent): void => {
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
    go(link.pathname + link.search)
  }
  const moved = (): void => {
    current = addressOf(location.href)
  }
  document.addEventListener('click', clicked)
  addEventListener('popstate', moved)
  return () => {
    document.removeEventListener('click', clicked)
    removeEventListener('popstate', moved)
  }
}
