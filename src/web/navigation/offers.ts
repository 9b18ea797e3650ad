/** What the server of this page offers. One that states nothing, as that of a machine does, offers everything. */
import type { PageFeature } from '../../model/api/machine.ts'
import { hrefOf, parseAddress } from './address.ts'

/** What not every server has, by the path of its page and by the key that leads to it. */
const PATHS: { readonly [path: string]: PageFeature } = {
  '/ask': 'ask',
  '/chat': 'chat',
  '/files': 'files',
  '/secrets': 'machine',
}
const KEYS: { readonly [key: string]: PageFeature } = {
  'g a': 'ask',
  'g t': 'chat',
  'g f': 'files',
  x: 'marks',
  m: 'marks',
  s: 'marks',
  c: 'convert',
  r: 'machine',
}

export function isOffered(feature: PageFeature | undefined): boolean {
  const stated = document.documentElement.dataset['offers']
  return feature === undefined || stated === undefined || stated.split(' ').includes(feature)
}

/** @param href of the page itself */
export const hasPage = (href: string): boolean => isOffered(PATHS[parseAddress(href).path])
export const hasKey = (key: string): boolean => isOffered(KEYS[key])

/** The history of a file, if the server has one. */
export const fileHref = (path: string): string | undefined =>
  isOffered('files') ? hrefOf('/files', { path }) : undefined
