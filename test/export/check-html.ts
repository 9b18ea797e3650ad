/** Parses an exported page strictly and reports what it must not contain. */
import { createHash } from 'node:crypto'
import { PAGE_SCRIPT } from '../../src/export/html/script.ts'
import { PAGE_STYLE } from '../../src/export/html/style.ts'

/** Allowed elements with their allowed attributes. */
const ALLOWED: { readonly [tag: string]: readonly string[] } = {
  html: ['lang'],
  head: [],
  meta: ['charset', 'http-equiv', 'content', 'name'],
  title: [],
  body: ['class'],
  header: ['class'],
  footer: ['class'],
  main: [],
  nav: ['class', 'id'],
  section: ['class', 'id'],
  div: ['class', 'role'],
  h1: [],
  h2: ['class'],
  h3: ['class'],
  i: [],
  b: [],
  span: ['class', 'data-t', 'data-a', 'aria-hidden'],
  time: ['datetime', 'data-day'],
  button: ['type', 'id', 'data-t', 'data-title', 'title'],
  input: ['id', 'type', 'data-title', 'placeholder', 'autocomplete', 'spellcheck'],
  output: ['id'],
  details: ['class', 'open'],
  summary: [],
  img: ['src', 'alt', 'loading', 'decoding'],
  p: ['class'],
  pre: [],
  code: [],
  strong: [],
  em: [],
  ul: ['class'],
  ol: [],
  li: [],
  a: ['href', 'rel', 'class', 'data-t'],
}

const VOID = new Set(['meta', 'input', 'img'])
const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/y
const ATTRIBUTE = / ([a-z-]+)(?:="([^"<>]*)")?/g

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The first error, or undefined. */
export function flawOf(page: string): string | undefined {
  const style = `<style>${PAGE_STYLE}</style>`
  const script = `<script>${PAGE_SCRIPT}</script>`
  if (page.split('<style').length !== 2 || !page.includes(style)) return 'not just its one style'
  if (page.split(/<script/i).length !== 2 || !page.includes(script)) return 'not just its one script'
  const policy =
    /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'") ?? ''
  const wanted = [
    "default-src 'none'",
    'img-src data:',
    `style-src ${digest(PAGE_STYLE)}`,
    `script-src ${digest(PAGE_SCRIPT)}`,
  ]
  for (const rule of wanted) if (!policy.split('; ').includes(rule)) return `no ${rule}`
  return flawIn(page.replace('<!doctype html>', '').replace(style, '').replace(script, ''))
}

function flawIn(html: string): string | undefined {
  const open: string[] = []
  const ids = new Set<string>()
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
    TAG.lastIndex = at
    const [, slash, tag = '', attributes = ''] = TAG.exec(html) ?? []
    if (slash === undefined) return `no tag: ${html.slice(at, at + 60)}`
    if (!Object.hasOwn(ALLOWED, tag)) return `element ${tag}`
    if (slash === '/') {
      if (open.pop() !== tag) return `</${tag}> closes nothing: ${html.slice(at - 60, at + 10)}`
      continue
    }
    if (!VOID.has(tag)) open.push(tag)
    for (const [, name = '', value = ''] of attributes.matchAll(ATTRIBUTE)) {
      const flaw = attributeFlaw(tag, name, value, ids)
      if (flaw !== undefined) return flaw
    }
  }
  return open.length > 0 ? `left open: ${open.join(' ')}` : undefined
}

function attributeFlaw(tag: string, name: string, value: string, ids: Set<string>): string | undefined {
  if (!ALLOWED[tag]?.includes(name)) return `${tag} with ${name}`
  if (name === 'src' && !/^data:image\/[a-z]+;base64,[\w+/=-]+$/.test(value)) return `source ${value.slice(0, 60)}`
  if (name === 'href' && !/^(?:https?:\/\/|mailto:|#(?:t\d+|outline)$)/i.test(value))
    return `address ${value.slice(0, 60)}`
  if (name === 'id' && ids.has(value)) return `id ${value} twice`
  if (name === 'id') ids.add(value)
  return undefined
}
