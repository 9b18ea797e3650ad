/** Computes which rows are in sight. Heights are measured as rows appear; changes above never move what is being read. */
import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { flushSync, tick } from 'svelte'
import { rowOfMessage } from './message-rows.ts'
import { EMPTY_ROW_WINDOW, hasMarginAround, type RowWindow, rowWindowAround, rowWindowFrom } from './row-window.ts'

type ScrollerOptions = VirtualizerOptions<HTMLElement, HTMLElement>
type Align = 'start' | 'center' | 'auto' | 'end'

export interface RowHeights {
  /** Of the first message of each row. */
  readonly offsets: Int32Array
  /** Estimated, in pixels. */
  readonly heightOf: (row: number) => number
}

export interface VisibleRow {
  readonly row: number
  /** The offset of its first message. */
  readonly key: number
  /** The index in the window. */
  readonly index: number
  /** Pixels from the top. */
  readonly start: number
}

/** Closer to the end counts as the end. */
const NEAR_END_PIXELS = 32
const NO_ROWS: RowHeights = { offsets: new Int32Array(), heightOf: () => 0 }
const PADDING_ABOVE = 16
const PADDING_BELOW = 48
/** Pixels below the top. */
const READING_LINE = 96

export class Scroller {
  items = $state.raw<readonly VisibleRow[]>([])
  height = $state(0)
  #rows = NO_ROWS
  #window: RowWindow = EMPTY_ROW_WINDOW
  #above = PADDING_ABOVE
  #below = PADDING_BELOW
  #shownItems: readonly VirtualItem[] = []
  #element: HTMLElement | null = null
  #follows = false
  /** The target of a programmatic scroll, until something else scrolls. */
  #aim: { readonly key: number; readonly align: Align } | undefined
  /** Rows whose message was loaded when they were measured. */
  readonly #measuredKeys = new Set<number>()
  /** The first of them in sight that was also shown before: new rows above must not move it. */
  #firstReadKey: number | undefined
  /** While a row is being measured, nothing may be drawn. */
  #isPlacing = false
  /** During a scroll event, new rows are measured before they are painted. */
  #isScrollEvent = false
  /** Rows that appear after the others were measured are measured immediately. */
  #isLateRender = false
  readonly #virtual: Virtualizer<HTMLElement, HTMLElement>

  constructor() {
    this.#virtual = new Virtualizer(this.#options())
    this.#virtual.shouldAdjustScrollPositionOnItemSizeChange = (item) => this.#isAbove(item)
  }

  /** @returns a function that detaches it */
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

  /** @param element a row: `data-index` is its index, `data-offset` its key, `aria-busy` means not loaded */
  readonly measure = (element: HTMLElement): (() => void) => {
    this.#isPlacing = true
    this.#virtual.measureElement(element)
    if (this.#isLateRender) this.#virtual.resizeItem(Number(element.dataset['index']), this.#sizeOf(element))
    this.#isPlacing = false
    return () => this.#virtual.measureElement(null)
  }

  /** Stays at the end while the reader is there. */
  follow(follows: boolean): void {
    this.#follows = follows
    this.#virtual.setOptions(this.#options())
  }

  /** Keeps the row that is being read in place. Must not be called from an effect. */
  update(rows: RowHeights): void {
    const before = this.#rows.offsets
    const read = this.#aim?.key ?? before[this.top.row] ?? 0
    const firstKey = before[this.#window.first] ?? 0
    this.#rows = rows
    const count = rows.offsets.length
    const row = rowOfMessage(rows.offsets, read)
    const sameWindow = rowWindowFrom(rowOfMessage(rows.offsets, firstKey), count)
    const isSameWindow = hasMarginAround(sameWindow, row, count)
    // The height above is only computed when the window's first row changes.
    this.#layOut(
      isSameWindow ? sameWindow : rowWindowAround(row, count),
      isSameWindow && rows.offsets[sameWindow.first] === firstKey,
    )
    this.#virtual.setOptions(this.#options(this.#follows))
    this.#draw()
    if (!isSameWindow && this.#aim) this.to(row, this.#aim.align)
  }

  /** For a fold that the reader opens. */
  pauseFollowing(): void {
    const follows = this.#follows
    this.#follows = false
    this.#virtual.setOptions(this.#options())
    setTimeout(() => {
      this.#follows ||= follows
      this.#virtual.setOptions(this.#options())
    }, 300)
  }

  get isAtEnd(): boolean {
    return this.#virtual.isAtEnd(NEAR_END_PIXELS)
  }

  get offset(): number {
    return this.#virtual.scrollOffset ?? 0
  }

  to(row: number, align: Align = 'start'): void {
    if (this.#moveTo(row)) this.#draw()
    this.#aim = { key: this.#rows.offsets[row] ?? 0, align }
    this.#virtual.scrollToIndex(row - this.#window.first, { align })
  }

  toEnd(): void {
    const last = Math.max(0, this.#rows.offsets.length - 1)
    if (this.#moveTo(last)) this.#draw()
    this.#aim = { key: this.#rows.offsets[last] ?? 0, align: 'end' }
    this.#virtual.scrollToEnd()
  }

  /** The first row in sight, and how many pixels of it are above. */
  get top(): { readonly row: number; readonly above: number } {
    const item = this.#virtual.getVirtualItemForOffset(this.offset)
    return item ? { row: this.#window.first + item.index, above: this.offset - item.start } : { row: 0, above: 0 }
  }

  /** The row that is being read: a little below the top, so that a row that was scrolled to the top counts. */
  get readingRow(): number {
    const item = this.#virtual.getVirtualItemForOffset(this.offset + READING_LINE)
    return item ? this.#window.first + item.index : 0
  }

  #options(follows = false): ScrollerOptions {
    const { offsets, heightOf } = this.#rows
    const { first, end } = this.#window
    return {
      count: end - first,
      getItemKey: (index) => offsets[first + index] ?? -1 - index,
      estimateSize: (index) => heightOf(first + index),
      getScrollElement: () => this.#element,
      scrollToFn: elementScroll,
      measureElement: (element, entry) => this.#sizeOf(element, entry),
      observeElementRect,
      observeElementOffset: (instance, notify) =>
        observeElementOffset(instance, (offset, isScrolling) => {
          this.#aim = undefined
          const isElsewhere = this.#followScroll(offset)
          this.#isScrollEvent = true
          notify(offset, isScrolling)
          this.#isScrollEvent = false
          if (isElsewhere) this.#draw()
        }),
      overscan: 3,
      paddingStart: this.#above,
      paddingEnd: this.#below,
      anchorTo: 'end',
      followOnAppend: follows,
      scrollEndThreshold: this.#follows ? NEAR_END_PIXELS : -1,
      onChange: (_, sync) => {
        const wasLate = this.#isLateRender
        this.#isLateRender ||= sync && !this.#isScrollEvent
        if (sync && !this.#isPlacing) flushSync(() => this.#show())
        else this.#show()
        this.#isLateRender = wasLate
        void tick().then(() => this.#virtual._willUpdate())
      },
    }
  }

  #sizeOf(element: HTMLElement, entry?: ResizeObserverEntry): number {
    if (element.ariaBusy !== 'true') this.#measuredKeys.add(Number(element.dataset['offset']))
    return measureElement(element, entry, this.#virtual)
  }

  /** Whether a row that changed its height is above what is being read. */
  #isAbove({ key, start, end }: VirtualItem): boolean {
    if (end <= this.offset) return true
    if (this.#firstReadKey !== undefined) return Number(key) < this.#firstReadKey
    return start < this.offset && !this.#virtual.itemSizeCache.has(key)
  }

  /** @returns whether rows must be drawn again */
  #followScroll(offset: number): boolean {
    const hasMoved = this.#moveTo(this.#rowAt(offset))
    if (hasMoved) this.#virtual.cancelScroll()
    return hasMoved
  }

  /** @returns whether rows must be drawn again first */
  #moveTo(row: number): boolean {
    const count = this.#rows.offsets.length
    if (hasMarginAround(this.#window, row, count)) return false
    this.#layOut(rowWindowAround(row, count))
    this.#virtual.setOptions(this.#options())
    return true
  }

  #layOut(window: RowWindow, isAboveUnchanged = false): void {
    this.#window = window
    if (!isAboveUnchanged) this.#above = PADDING_ABOVE + this.#heightBetween(0, window.first)
    this.#below = PADDING_BELOW + this.#heightBetween(window.end, this.#rows.offsets.length)
  }

  #heightBetween(from: number, to: number): number {
    let sum = 0
    for (let row = from; row < to; row++) sum += this.#heightOf(row)
    return sum
  }

  #heightOf(row: number): number {
    const { offsets, heightOf } = this.#rows
    return this.#virtual.itemSizeCache.get(offsets[row] ?? -1) ?? heightOf(row)
  }

  #rowAt(offset: number): number {
    const { first, end } = this.#window
    const bottom = this.#virtual.getTotalSize() - this.#below
    if (offset < this.#above) return this.#rowUp(first, this.#above - offset)
    if (offset >= bottom) return this.#rowDown(end, offset - bottom)
    return first + (this.#virtual.getVirtualItemForOffset(offset)?.index ?? 0)
  }

  /** The row that starts at least this many pixels above another. */
  #rowUp(row: number, pixels: number): number {
    let at = row
    for (let remaining = pixels; at > 0 && remaining > 0; at--) remaining -= this.#heightOf(at - 1)
    return at
  }

  #rowDown(row: number, pixels: number): number {
    let at = row
    for (let remaining = pixels; at < this.#rows.offsets.length && remaining > 0; at++) remaining -= this.#heightOf(at)
    return at
  }

  #draw(): void {
    flushSync(() => this.#show())
    this.#virtual._willUpdate()
  }

  #show(): void {
    const shown = this.#virtual.getVirtualItems()
    this.height = this.#virtual.getTotalSize()
    if (!this.#isPlacing) this.#firstReadKey = this.#firstRead(shown)
    if (shown === this.#shownItems) return
    this.#shownItems = shown
    const { first } = this.#window
    this.items = shown.map(({ index, key, start }) => ({ row: first + index, key: Number(key), index, start }))
  }

  #firstRead(shown: readonly VirtualItem[]): number | undefined {
    const [from, to] = [Number(this.#shownItems[0]?.key ?? 0), Number(this.#shownItems.at(-1)?.key ?? -1)]
    const isRead = ({ key, end }: VirtualItem): boolean =>
      end > this.offset && Number(key) >= from && Number(key) <= to && this.#measuredKeys.has(Number(key))
    const first = shown.find(isRead)
    return first && Number(first.key)
  }
}
