import type { Attachment } from 'svelte/attachments';

/** Makes a text field as tall as its text; CSS limits it. (`field-sizing` is not everywhere yet.) */
export function autogrow(text: () => string): Attachment<HTMLTextAreaElement> {
  return (field) => {
    let width = 0;

    function fit(isEmpty: boolean): void {
      field.style.height = 'auto';
      // An empty field has one line, however long the words are that stand in it meanwhile.
      if (!isEmpty) field.style.height = `${field.scrollHeight}px`;
    }

    $effect(() => fit(text() === ''));
    // In a window that is not shown yet, a text has no height to be read.
    const watch = new ResizeObserver(() => {
      if (field.clientWidth === width) return;
      width = field.clientWidth;
      fit(field.value === '');
    });
    watch.observe(field);
    return () => watch.disconnect();
  };
}
