/** Spells out hostile characters in whatever the page shows, so that no component can forget it. What is copied stays as it was. */
import { readable } from '../../model/told/visible.ts'

const ATTRIBUTES = ['title', 'aria-label', 'alt', 'placeholder', 'label']

/** Runs before the browser paints: the raw characters are never seen. */
export function spellOutIn(root: Document): void {
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === 'childList') for (const node of addedNodes) spellNode(node)
      else if (type === 'characterData') spellText(target)
      else if (attributeName !== null && target instanceof Element) spellAttribute(target, attributeName)
    }
  }).observe(root, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ATTRIBUTES,
  })
}

function spellNode(node: Node): void {
  if (node.nodeType === Node.TEXT_NODE) return spellText(node)
  if (!(node instanceof Element)) return
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let one: Node | null = node; one !== null; one = walker.nextNode())
    if (one instanceof Element) for (const name of ATTRIBUTES) spellAttribute(one, name)
    else spellText(one)
}

function spellText(node: Node): void {
  const text = node.nodeValue ?? ''
  const shown = spelled(text)
  if (shown !== text) node.nodeValue = shown
}

function spellAttribute(element: Element, name: string): void {
  const text = element.getAttribute(name)
  if (text === null) return
  const shown = spelled(text)
  if (shown !== text) element.setAttribute(name, shown)
}

/** Lines of another system end with both characters. */
const spelled = (text: string): string => readable(text.includes('\r') ? text.replaceAll('\r\n', '\n') : text)
