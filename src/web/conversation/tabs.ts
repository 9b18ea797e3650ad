/** Views of one conversation besides its words, each loaded when it is asked for; `tab` in the address names one. */
import type { Component } from 'svelte'
import type { SessionDetail } from '../../model/api/session.ts'

export interface TabProps {
  readonly session: SessionDetail
}

export interface Tab {
  readonly name: string
  readonly title: () => string
  /** Whether a session has it. */
  readonly fits: (session: SessionDetail) => boolean
  readonly load: () => Promise<{ readonly default: Component<TabProps> }>
}

export const TABS: readonly Tab[] = []
