/**
 * Input that tries to pass active content, foreign tags or foreign attributes through an HTML or Markdown sanitizer.
 */
import { readFileSync } from 'node:fs'

export interface HtmlAttack {
  readonly name: string
  readonly input: string
}

/** By category, then by name. */
const written = JSON.parse(readFileSync(new URL('attacks.json', import.meta.url), 'utf8')) as {
  readonly [aim: string]: { readonly [name: string]: string }
}

const overlong: readonly HtmlAttack[] = [
  { name: 'a hundred thousand quote marks', input: '>'.repeat(100_000) },
  { name: 'a hundred thousand spaced quote marks', input: '> '.repeat(50_000) },
  { name: 'a hundred thousand brackets', input: '['.repeat(100_000) },
  { name: 'brackets, opened and closed', input: '['.repeat(50_000) + ']'.repeat(50_000) },
  { name: 'images in images', input: '!['.repeat(40_000) },
  { name: 'a hundred thousand divisions', input: '<div>'.repeat(100_000) },
  { name: 'emphasis without end', input: '*a_'.repeat(30_000) },
  { name: 'allowed tags without end', input: '<em><strong>'.repeat(20_000) },
  { name: 'lists in lists', input: '<ul><li>'.repeat(20_000) },
  { name: 'lists on one line', input: '- '.repeat(50_000) },
  { name: 'numbered lists on one line', input: '1. '.repeat(30_000) },
  { name: 'lists by indentation', input: Array.from({ length: 300 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n') },
  { name: 'task list without end', input: '- [ ] x\n'.repeat(15_000) },
  { name: 'lines that lazily continue an item', input: '1. x\n"'.repeat(20_000) },
  { name: 'quotes that lazily continue', input: 'x\n&\n> '.repeat(15_000) },
  { name: 'tables that almost are', input: '|-|\n\\- ]|-|\n'.repeat(10_000) },
  { name: 'end tags that match nothing', input: '<em>'.repeat(20_000) + '</strong>'.repeat(20_000) },
  { name: 'quotes of attributes without end', input: '<a x="'.repeat(30_000) },
  { name: 'quotes of attributes in turn', input: '<a x="<b y=\'">'.repeat(20_000) },
  { name: 'comments without end', input: '<!--'.repeat(50_000) },
  { name: 'scripts without end', input: `${'<script>'.repeat(20_000)}</script ` },
  { name: 'backticks of growing length', input: Array.from({ length: 400 }, (_, at) => '`'.repeat(at + 1)).join(' ') },
  { name: 'references without number', input: '&#'.repeat(50_000) },
  { name: 'an attribute of a million characters', input: `<p title="${'x'.repeat(1_000_000)}" onclick=hit()>x</p>` },
  {
    name: 'an address of a hundred thousand characters',
    input: `<a href="https://ok.example/${'x'.repeat(100_000)}">x</a>`,
  },
  { name: 'a tag name of a hundred thousand characters', input: `<${'p'.repeat(100_000)} onclick=hit()>x` },
  { name: 'a megabyte of words with one script', input: `${'word '.repeat(200_000)}<script>hit()</script>` },
]

export const HTML_ATTACKS: readonly HtmlAttack[] = [
  ...Object.values(written).flatMap((some) => Object.entries(some).map(([name, input]) => ({ name, input }))),
  ...overlong,
]
