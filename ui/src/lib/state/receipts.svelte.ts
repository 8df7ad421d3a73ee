import type { Backend } from '../ipc/backend';
import { errorBody } from '../ipc/error';
import type {
  ErrorBody,
  Receipt,
  ReceiptRequest,
  SendRequest,
  StrategyChoice,
  StrategyOutcome,
} from '../ipc/types';
import { sheetOf, sheetOfPreview, type Sheet } from './sheet';

/** A request that is looked at: the one behind a reply, or one that is not sent. */
export class OpenSheet {
  /** The reply; `null` for a preview. */
  readonly replyId: string | null;
  sheet = $state.raw<Sheet | null>(null);
  /** The reply is from before there were receipts. */
  absent = $state(false);
  error = $state.raw<ErrorBody | null>(null);
  loading = $state(true);
  /** The text of each block; `null` until it has been put together. */
  texts = $state.raw<string[] | null>(null);
  body = $state.raw<string | null>(null);
  /** How the request was put together again. */
  request = $state.raw<ReceiptRequest | null>(null);
  /** Why it could not be. */
  requestError = $state.raw<ErrorBody | null>(null);

  constructor(replyId: string | null) {
    this.replyId = replyId;
  }
}

/** Receipts of replies, and what would be sent. */
export class Receipts {
  /** What is shown; the one before it is behind it. */
  open = $state.raw<OpenSheet | null>(null);
  private readonly backend: Backend;

  constructor(backend: Backend) {
    this.backend = backend;
  }

  /** Shows what was sent for a reply. */
  async show(replyId: string): Promise<void> {
    const opened = new OpenSheet(replyId);
    this.open = opened;
    await this.fill(opened);
  }

  /** Reads what is shown again. */
  async fill(opened: OpenSheet): Promise<void> {
    const { replyId } = opened;
    if (replyId === null) return;
    opened.loading = true;
    opened.error = opened.requestError = null;
    try {
      const receipt = await this.backend.receiptGet(replyId);
      opened.absent = receipt === null;
      opened.sheet = receipt && sheetOf(receipt);
    } catch (thrown) {
      opened.error = errorBody(thrown);
    }
    opened.loading = false;
    if (opened.sheet) await this.rebuild(opened, replyId);
  }

  /** Shows what would be sent. */
  async preview(request: SendRequest): Promise<void> {
    const opened = new OpenSheet(null);
    this.open = opened;
    try {
      const preview = await this.backend.chatPreview(request);
      opened.sheet = sheetOfPreview(preview);
      opened.texts = preview.texts;
      opened.body = preview.body;
    } catch (thrown) {
      opened.error = errorBody(thrown);
    }
    opened.loading = false;
  }

  /** Shows a preview that is known already. */
  present({ preview, error }: StrategyOutcome): void {
    const opened = new OpenSheet(null);
    opened.loading = false;
    opened.sheet = preview && sheetOfPreview(preview);
    opened.texts = preview?.texts ?? null;
    opened.body = preview?.body ?? null;
    opened.error = error;
    this.open = opened;
  }

  close(): void {
    this.open = null;
  }

  /** The receipt of another reply, to compare with. */
  get(replyId: string): Promise<Receipt | null> {
    return this.backend.receiptGet(replyId);
  }

  compare(request: SendRequest, strategies: StrategyChoice[]): Promise<StrategyOutcome[]> {
    return this.backend.chatCompare(request, strategies);
  }

  private async rebuild(opened: OpenSheet, replyId: string): Promise<void> {
    try {
      const request = await this.backend.receiptRequest(replyId);
      opened.request = request;
      opened.texts = request.texts;
      opened.body = request.body;
    } catch (thrown) {
      opened.requestError = errorBody(thrown);
    }
  }
}
