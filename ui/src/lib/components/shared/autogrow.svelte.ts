import type { Attachment } from 'svelte/attachments';

/** Makes a text field as tall as its text; CSS limits it. (`field-sizing` is not everywhere yet.) */
export function autogrow(text: () => string): Attachment<HTMLTextAreaElement> {
  return (field) => {
    $effect(() => {
      void text();
      field.style.height = 'auto';
      field.style.height = `${field.scrollHeight}px`;
    });
  };
}
