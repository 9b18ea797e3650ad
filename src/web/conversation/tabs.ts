/** Further tabs of a conversation, loaded on demand; `tab` in the address names one. */
import type { Component } from 'svelte'
import type { SessionDetail } from '../../model/api/session.ts'
import { say as sayChanges } from '../i18n/changes.ts'
import { say } from '../i18n/views.ts'

export interface TabProps {
  readonly session: SessionDetail
}

export interface ConversationTab {
  readonly name: string
  readonly title: () => string
  readonly fits: (session: SessionDetail) => boolean
  readonly load: () => Promise<{ readonly default: Component<TabProps> }>
}

export const CONVERSATION_TABS: readonly ConversationTab[] = [
  {
    name: 'changes',
    title: () => sayChanges.tab,
    fits: ({ gone, tool_count }) => !gone && tool_count > 0,
    load: () => import('../changes/ChangesTab.svelte'),
  },
  {
    name: 'totals',
    title: () => say.totals,
    fits: ({ gone }) => !gone,
    load: () => import('../totals/TotalsTab.svelte'),
  },
  {
    name: 'state',
    title: () => say.state,
    fits: ({ has_state }) => has_state,
    load: () => import('../state/StateTab.svelte'),
  },
  {
    name: 'request',
    title: () => say.request,
    fits: ({ has_state }) => has_state,
    load: () => import('../state/RequestTab.svelte'),
  },
  {
    name: 'secrets',
    title: () => say.secrets,
    fits: ({ gone }) => !gone,
    load: () => import('../secrets/SecretsTab.svelte'),
  },
]
