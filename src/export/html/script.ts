/** The exported page's script: search, folds, keys for turns, two languages. */
import { EXPORT_LABELS } from '../../model/export-labels.ts'

/** Matches beyond this are not highlighted. */
const MAX_HITS = 20_000

export const PAGE_SCRIPT = `'use strict'
{
const LABELS = ${JSON.stringify(EXPORT_LABELS)}
const MOST = ${MAX_HITS}
const $ = (selector) => document.querySelector(selector)
const all = (selector) => document.querySelectorAll(selector)
const input = $('#search'), count = $('#count'), turns = [...all('.turn')]
document.body.classList.remove('no-script')

let language = (navigator.language || '').startsWith('ja') ? 'ja' : 'en'
const spoken = new WeakMap()
const say = (key, values) => {
  const [one, many = one] = LABELS[key][language === 'ja' ? 1 : 0].split('|')
  return (values[0] === '1' ? one : many).replace(/\\{(\\d)\\}/g, (_, at) => values[at] ?? '')
}
let day, hour
const speakIn = (part) => {
  if (spoken.get(part) === language) return
  if (language !== 'en' || spoken.has(part))
    for (const one of part.querySelectorAll('[data-t]')) one.textContent = say(one.dataset.t, JSON.parse(one.dataset.a || '[]'))
  for (const one of part.querySelectorAll('[data-title]')) { one.title = say(one.dataset.title, []); one.ariaLabel = one.title }
  for (const one of part.querySelectorAll('time')) {
    const time = new Date(one.dateTime)
    if (Number.isNaN(+time)) continue
    one.textContent = (one.dataset.day === undefined ? hour : day).format(time)
    one.title = one.dateTime
  }
  spoken.set(part, language)
}
const heads = [$('.bar'), $('.outline h2').parentNode, ...all('main > :not(.turn)')]
const near = new IntersectionObserver((seen) => { for (const one of seen) if (one.isIntersecting) speakIn(one.target) }, { rootMargin: '200%' })
const speak = () => {
  document.documentElement.lang = language
  day = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  hour = new Intl.DateTimeFormat(language, { timeStyle: 'medium' })
  input.placeholder = say('search', [])
  for (const one of heads) speakIn(one)
  near.disconnect()
  for (const one of turns) near.observe(one)
}
speak()
addEventListener('beforeprint', () => { for (const one of turns) speakIn(one) })
$('#language').onclick = () => { language = language === 'ja' ? 'en' : 'ja'; speak() }
$('#open').onclick = () => { for (const one of all('main details')) one.open = true }
$('#fold').onclick = () => { for (const one of all('main details')) one.open = false }

let current = -1
const links = [...all('.outline a')]
const mark = (at) => {
  if (at === current) return
  links[current]?.removeAttribute('aria-current')
  current = at
  const link = links[at]
  if (!link) return
  link.setAttribute('aria-current', 'true')
  const box = link.closest('div'), top = link.offsetTop - box.offsetTop
  if (box.scrollHeight > box.clientHeight && (top < box.scrollTop + 32 || top > box.scrollTop + box.clientHeight - 64))
    box.scrollTop = top - box.clientHeight / 2
}
const line = () => (innerWidth > 860 ? 96 : 136)
const here = () => {
  let low = 0, high = turns.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (turns[middle].getBoundingClientRect().top <= line()) low = middle + 1
    else high = middle
  }
  return low - 1
}
let waiting = false
addEventListener('scroll', () => {
  if (waiting) return
  waiting = true
  requestAnimationFrame(() => { waiting = false; mark(here()) })
}, { passive: true })
mark(here())
const go = (step) => {
  const at = here()
  const back = step < 0 && turns[at] && turns[at].getBoundingClientRect().top < line() - 48 ? 0 : step
  const to = Math.min(turns.length - 1, at + back)
  if (to < 0) scrollTo(0, 0)
  else turns[to].scrollIntoView({ block: 'start' })
}

const INLINE = new Set(['A', 'B', 'CODE', 'EM', 'STRONG', 'SPAN', 'I'])
const fold = (text) => text.normalize('NFKC').toLowerCase()
let hits = [], now = -1, job = 0, done = true
const paint = () => {
  if (!globalThis.CSS?.highlights) return
  CSS.highlights.set('hit', new Highlight(...hits))
  CSS.highlights.delete('now')
}
const tell = () => {
  const more = hits.length >= MOST ? '+' : done ? '' : '…'
  count.textContent = input.value === '' ? '' : (now < 0 ? '' : now + 1 + ' / ') + hits.length.toLocaleString() + more
}
const places = (nodes, sought) => {
  const text = nodes.map((node) => node.data).join('')
  let plain = fold(text), map
  if (!plain.includes(sought)) return
  if (plain.length !== text.length) {
    plain = ''; map = []
    let at = 0
    for (const letter of text) {
      const folded = fold(letter)
      for (let n = 0; n < folded.length; n++) map.push(at)
      plain += folded; at += letter.length
    }
    map.push(at)
  }
  const spot = (offset) => {
    let rest = map ? map[offset] : offset
    for (const node of nodes) { if (rest <= node.length) return [node, rest]; rest -= node.length }
    return [nodes.at(-1), nodes.at(-1).length]
  }
  for (let at = plain.indexOf(sought); at >= 0 && hits.length < MOST; at = plain.indexOf(sought, at + sought.length)) {
    const range = document.createRange()
    range.setStart(...spot(at)); range.setEnd(...spot(at + sought.length))
    hits.push(range)
  }
}
const search = () => {
  const mine = ++job, sought = fold(input.value.trim())
  hits = []; now = -1; done = sought === ''
  paint(); tell()
  if (done) return
  const walker = document.createTreeWalker($('main'), NodeFilter.SHOW_TEXT)
  let group = [], owner = null
  const work = () => {
    if (mine !== job) return
    const until = performance.now() + 24
    let node
    while (performance.now() < until && hits.length < MOST) {
      node = walker.nextNode()
      let block = node?.parentNode
      while (block && INLINE.has(block.nodeName)) block = block.parentNode
      if (block !== owner) { if (group.length > 0) places(group, sought); group = []; owner = block }
      if (!node) break
      group.push(node)
    }
    done = !node || hits.length >= MOST
    paint(); tell()
    if (now < 0 && hits.length > 0) step(1)
    if (!done) setTimeout(work)
  }
  work()
}
const step = (by) => {
  if (hits.length === 0) return
  now = (now + by + hits.length) % hits.length
  const range = hits[now]
  for (let up = range.startContainer.parentElement; up; up = up.parentElement) if (up.nodeName === 'DETAILS') up.open = true
  range.startContainer.parentElement.scrollIntoView({ block: 'nearest' })
  const pre = range.startContainer.parentElement.closest('pre')
  const inside = () => range.getBoundingClientRect()
  if (pre && pre.scrollHeight > pre.clientHeight) pre.scrollTop += inside().top - pre.getBoundingClientRect().top - pre.clientHeight / 2
  scrollBy(0, inside().top - innerHeight / 2)
  if (globalThis.CSS?.highlights) CSS.highlights.set('now', new Highlight(range))
  tell()
}
let timer
input.oninput = () => { clearTimeout(timer); timer = setTimeout(search, 150) }
$('#next').onclick = () => step(1)
$('#previous').onclick = () => step(-1)

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const typing = document.activeElement === input
  if (event.key === 'Escape') { input.value = ''; search(); input.blur() }
  else if (typing && event.key === 'Enter') step(event.shiftKey ? -1 : 1)
  else if (typing) return
  else if (event.key === '/') { input.focus(); input.select() }
  else if (event.key === 'j') go(1)
  else if (event.key === 'k') go(-1)
  else return
  event.preventDefault()
})
}
`
