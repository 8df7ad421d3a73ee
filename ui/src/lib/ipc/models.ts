import type { ModelChoice, ProviderKind, ProviderLocality } from './types';

export interface ModelInfo {
  name: string;
  /** Context window in tokens, where known. */
  window: number | null;
  sizeBytes: number | null;
  forTryingOut: boolean;
  /** A server on this machine may hand its requests on. */
  locality: ProviderLocality;
  /** It cannot chat. */
  embedding: boolean;
}

/** What taking a model file off the engine's list means. */
export interface ModelFileRemoval {
  name: string;
  path: string;
  /** The file is deleted from the disk too. */
  deletesFile: boolean;
  isDefault: boolean;
  isLoaded: boolean;
}

export interface DetectedServer {
  kind: ProviderKind;
  name: string;
  baseUrl: string;
  models: ModelInfo[];
}

export type OfferKind = 'builtIn' | 'localServer' | 'recommended' | 'cloud';

/** A size of models that runs well on this machine. */
export interface Recommendation {
  /** Billions of weights. */
  fromBillions: number;
  toBillions: number;
  needsGigabytes: number;
  freeGigabytes: number;
  /** 0 = less than one. */
  tokensPerSecond: number;
}

export interface ModelOffer {
  kind: OfferKind;
  /** Of the model or server; empty where the kind says all. */
  name: string;
  model: ModelInfo | null;
  choice: ModelChoice | null;
  server: DetectedServer | null;
  recommendation: Recommendation | null;
  forTryingOut: boolean;
  fits: boolean;
}
