/** Which rows are in sight. Heights are measured as rows appear; what lies above never moves what is read. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { flushSync, tick } from 'svelte'

type Options = VirtualizerOptions<HTMLElement, HTMLElement>

export interface Rows {
  readonly count: number
  readonly keyOf: (row: number) => number
  readonly heightOf: (row: number) => number
}

/** Within so many pixels of the end, the reader is at the end. */
const NEAR_END = 32
const NO_ROWS: Rows = { count: 0, keyOf: (row) => row, heightOf: () => 0 }

export class Scroller {
  items = $state.raw<readonly VirtualItem[]>([])
  height = $state(0)
  #rows = NO_ROWS
  #element: HTMLElement | null = null
  #follows = false
  /** A row is being put in its place: nothing may be drawn in the middle of that. */
  #isPlacing = false
  readonly #virtual: Virtualizer<HTMLElement, HTMLElement>

  constructor() {
    this.#virtual = new Virtualizer(this.#options())
  }

  /** @returns what ends it */
  attach(element: HTMLElement): () => void {
    this.#element = element
    const end = this.#virtual._didMount()
    this.#virtual._willUpdate()
    this.#show()
    return () => {
      end()
      this.#element = null
    }
  }

  /** A row's element; its `data-index` says which. */
  readonly measure = (element: HTMLElement): (() => void) => {
    this.#isPlacing = true
    this.#virtual.measureElement(element)
    this.#isPlacing = false
    return () => this.#virtual.measureElement(null)
  }

  /** Whether the end is stayed at, while the reader is there. */
  follow(follows: boolean): void {
    this.#follows = follows
    this.#virtual.setOptions(this.#options())
  }

  /** Other rows. The one that is read stays where it is. Not to be called from an effect. */
  update(rows: Rows): void {
    this.#rows = rows
    this.#virtual.setOptions(this.#options())
    this.#show()
    flushSync()
    this.#virtual._willUpdate()
  }

  /** Something opens by hand: the end is not followed for that. */
  hold(): void {
    const follows = this.#follows
    this.#follows = false
    this.#virtual.setOptions(this.#options())
    setTimeout(() => {
      this.#follows ||= follows
      this.#virtual.setOptions(this.#options())
    }, 300)
  }

  get isAtEnd(): boolean {
    return this.#virtual.isAtEnd(NEAR_END)
  }

  get offset(): number {
    return this.#virtual.scrollOffset ?? 0
  }

  to(row: number, align: 'start' | 'center' | 'auto' | 'end' = 'start'): void {
    this.#virtual.scrollToIndex(row, { align })
  }

  toEnd(): void {
    this.#virtual.scrollToEnd()
  }

  /** The first row that is in sight, and how much of it lies above. */
  get top(): { readonly row: number; readonly above: number } {
    const item = this.#virtual.getVirtualItemForOffset(this.offset)
    return item ? { row: item.index, above: this.offset - item.start } : { row: 0, above: 0 }
  }

  #options(): Options {
    return {
      count: this.#rows.count,
      getItemKey: this.#rows.keyOf,
      estimateSize: this.#rows.heightOf,
      getScrollElement: () => this.#element,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      overscan: 3,
      paddingStart: 16,
      paddingEnd: 48,
      anchorTo: 'end',
      followOnAppend: this.#follows,
      scrollEndThreshold: this.#follows ? NEAR_END : -1,
      onChange: (_, sync) => {
        if (sync && !this.#isPlacing) flushSync(() => this.#show())
        else this.#show()
        void tick().then(() => this.#virtual._willUpdate())
      },
    }
  }

  #show(): void {
    this.items = this.#virtual.getVirtualItems()
    this.height = this.#virtual.getTotalSize()
  }
}
