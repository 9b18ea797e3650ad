/** Spells out hostile characters in everything that the page shows, so that no component can forget it. */
import { toReadable } from '../../model/hostile-characters.ts'

const SHOWN_ATTRIBUTES = ['title', 'aria-label', 'alt', 'placeholder', 'label']

/** Runs before the browser paints. */
export function escapeHostileCharactersIn(root: Document): void {
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes, attributeName } of changes) {
      if (type === 'childList') for (const node of addedNodes) escapeNode(node)
      else if (type === 'characterData') escapeTextNode(target)
      else if (attributeName !== null && target instanceof Element) escapeAttribute(target, attributeName)
    }
  }).observe(root, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: SHOWN_ATTRIBUTES,
  })
}

function escapeNode(node: Node): void {
  if (node.nodeType === Node.TEXT_NODE) return escapeTextNode(node)
  if (!(node instanceof Element)) return
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT)
  for (let current: Node | null = node; current !== null; current = walker.nextNode())
    if (current instanceof Element) for (const name of SHOWN_ATTRIBUTES) escapeAttribute(current, name)
    else escapeTextNode(current)
}

function escapeTextNode(node: Node): void {
  const text = node.nodeValue ?? ''
  const escaped = escapeText(text)
  if (escaped !== text) node.nodeValue = escaped
}

function escapeAttribute(element: Element, name: string): void {
  const text = element.getAttribute(name)
  if (text === null) return
  const escaped = escapeText(text)
  if (escaped !== text) element.setAttribute(name, escaped)
}

/** Windows lines end with CR and LF. */
const escapeText = (text: string): string => toReadable(text.includes('\r') ? text.replaceAll('\r\n', '\n') : text)
