import { elementText } from '../structured/element-text.ts';
import {
  type StateMatch,
  type StateObject,
  searchState,
  stateList,
  stateText,
  stateValue,
} from '../structured/embedded/embedded-state.ts';
import {
  type DataItem,
  isItem,
  itemValue,
  itemValues,
  label,
  labels,
  textValue,
  valuesOf,
} from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import {
  aboutItems,
  FIELD_READERS,
  field,
  fieldText,
  keywordsOf,
  type Post,
  type ReadingContext,
} from './field.ts';

const FIELDS = {
  title: field('text', 'What it is about.'),
  author: field('text', 'Who began it.'),
  publishedAt: field('date', 'When it began.'),
  text: field('body', 'The first post.'),
  posts: field(
    'posts',
    'All posts on the page, the first included: `author publishedAt text votes isAnswer` each.',
  ),
  replyCount: field('count', 'Answers, on other pages too.'),
  viewCount: field('count', 'How often it was read.'),
  votes: field('number', 'Votes for the first post.'),
  isSolved: field('flag', 'Whether an answer was accepted.'),
  category: field('text', 'The part of the forum.'),
  tags: field('texts', 'Keywords.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

type ThreadFields = typeof FIELDS;

const THREAD = /^(?:DiscussionForumPosting|Question|SocialMediaPosting)$/;
const POST =
  /[\s_-](?:topic-post|crawler-post|forum-post|postbit|post-container|message--post|js-post|comment-tree-item|post-wrapper)[\s_-]/;
const AUTHOR = /[\s_-](?:username|author|creator|user-details|message-name|post-author)[\s_-]/;
const TEXT =
  /[\s_-](?:cooked|post-body|post-content|message-body|postbody|s-prose|post__content|content|text)[\s_-]/;
const DATE = /[\s_-](?:post-date|post-time|date|relative-date|message-date)[\s_-]/;
const CATEGORY = /[\s_-](?:category-name|topic-category|badge-category|forum-name|category-title)[\s_-]/;
const TAGS = /[\s_-](?:discourse-tags?|topic-tags|post-taglist|tags)[\s_-]/;
const SYSTEMS = /discourse|phpbb|xenforo|vbulletin|flarum|nodebb|mybb|vanilla/i;
const MOST_POSTS = 200;

/** A question or a topic with what others answered. */
export const forumThread = defineType({
  name: 'forum_thread',
  says: 'A question or a topic with what others answered.',
  fields: FIELDS,

  weigh(evidence) {
    if (evidence.items((type) => type === 'DiscussionForumPosting' || type === 'QAPage').length > 0)
      return 0.96;
    const posts = evidence.markup.named(POST).length;
    if (evidence.isMadeWith(SYSTEMS) && findTopic(evidence) !== null) return 0.9;
    if (evidence.isMadeWith(SYSTEMS)) return posts > 0 || evidence.markup.heading !== null ? 0.85 : 0.3;
    return posts > 1 ? 0.7 : 0;
  },

  read(evidence, draft) {
    for (const item of aboutItems(evidence, (type) => THREAD.test(type))) readItem(evidence, item, draft);
    readState(evidence, draft);
    readMarkup(evidence, draft);
    const posts = draft.get('posts');
    const source = draft.sourceOf('posts');
    if (posts !== null && source !== null) {
      const [first] = posts;
      draft.give('author', first?.author, source, 0.6);
      draft.give('publishedAt', first?.publishedAt, source, 0.6);
      draft.give('text', first?.text, source, 0.6);
      draft.give('replyCount', posts.length - 1, source, 0.4);
      if (posts.some(({ isAnswer }) => isAnswer)) draft.give('isSolved', true, source, 0.7);
    }
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

function readItem(evidence: TypedEvidence, item: DataItem, draft: Draft<ThreadFields>): void {
  const { source } = item;
  const context = evidence.context();
  const accepted = itemValues(item, 'acceptedAnswer');
  const answers = [...accepted, ...itemValues(item, 'suggestedAnswer'), ...itemValues(item, 'comment')];
  const first = postOf(item, context, false);
  draft.give('title', textValue(item, 'headline', 'name'), source);
  draft.give('author', label(item, 'author'), source);
  draft.give('publishedAt', textValue(item, 'datePublished', 'dateCreated'), source);
  draft.give('text', textValue(item, 'text', 'articleBody'), source);
  draft.give('votes', textValue(item, 'upvoteCount'), source);
  draft.give(
    'replyCount',
    textValue(item, 'answerCount', 'commentCount') ?? counted(item, /Comment|Reply/),
    source,
  );
  draft.give('viewCount', counted(item, /View/), source);
  if (accepted.length > 0) draft.give('isSolved', true, source);
  draft.give('category', labels(item, 'articleSection', 'isPartOf')[0], source);
  draft.give('tags', keywordsOf(item, 'keywords'), source);
  const replies = answers
    .slice(0, MOST_POSTS)
    .flatMap((answer) => postOf(answer, context, accepted.includes(answer)) ?? []);
  if (replies.length > 0) draft.give('posts', first === null ? replies : [first, ...replies], source);
  draft.give('url', textValue(item, 'url'), source);
}

function counted(item: DataItem, action: RegExp): string | null {
  const found = itemValues(item, 'interactionStatistic').find((one) => {
    const [kind] = valuesOf(one, 'interactionType');
    return kind !== undefined && action.test(isItem(kind) ? (kind.types[0] ?? '') : String(kind));
  });
  return textValue(found, 'userInteractionCount');
}

function postOf(item: DataItem, context: ReadingContext, isAnswer: boolean): Post | null {
  const text = fieldText(textValue(item, 'text', 'articleBody'), 20_000);
  if (text === null) return null;
  return {
    author: fieldText(label(item, 'author') ?? textValue(itemValue(item, 'author'), 'name')),
    publishedAt: FIELD_READERS.date(textValue(item, 'datePublished', 'dateCreated'), context),
    text,
    votes: FIELD_READERS.number(textValue(item, 'upvoteCount'), context),
    isAnswer,
  };
}

function findTopic(evidence: TypedEvidence): StateMatch | null {
  return searchState(evidence.states, (object) => {
    const posts = stateList(object, 'post_stream.posts', 'posts');
    return posts.length > 0 && stateText(object, 'title', 'fancy_title') !== null ? 1 : 0;
  });
}

/** Discourse leaves the topic in its page: `post_stream.posts` with the text as HTML. */
function readState(evidence: TypedEvidence, draft: Draft<ThreadFields>): void {
  const match = findTopic(evidence);
  if (match === null) return;
  const { object } = match;
  const source = 'embedded-state';
  const context = evidence.context();
  draft.give('title', stateText(object, 'title', 'fancy_title'), source);
  draft.give('publishedAt', stateText(object, 'created_at', 'createdAt'), source);
  draft.give('viewCount', stateText(object, 'views', 'viewCount'), source);
  draft.give('replyCount', stateText(object, 'reply_count', 'replyCount'), source);
  draft.give(
    'tags',
    stateList(object, 'tags').filter((tag) => typeof tag === 'string'),
    source,
  );
  const posts = stateList(object, 'post_stream.posts', 'posts')
    .slice(0, MOST_POSTS)
    .flatMap((post) => {
      if (post === null || typeof post !== 'object') return [];
      const text = fieldText(
        stateText(post as StateObject, 'cooked', 'content', 'body', 'text', 'raw'),
        20_000,
      );
      if (text === null) return [];
      const entry = post as StateObject;
      return [
        {
          author: fieldText(stateText(entry, 'username', 'author', 'user')),
          publishedAt: FIELD_READERS.date(stateText(entry, 'created_at', 'createdAt', 'date'), context),
          text,
          votes: FIELD_READERS.number(stateText(entry, 'like_count', 'votes', 'score'), context),
          isAnswer: stateValue(entry, 'accepted_answer', 'isAnswer') === true,
        },
      ];
    });
  draft.give('posts', posts, source);
  draft.give('author', posts[0]?.author, source);
  draft.give('text', posts[0]?.text, source);
}

function readMarkup(evidence: TypedEvidence, draft: Draft<ThreadFields>): void {
  const { markup } = evidence;
  draft.give('title', markup.text(markup.heading, 300), 'markup', 0.75);
  draft.give('title', evidence.openGraph('title'), 'open-graph', 0.75);
  const context = evidence.context();
  const nodes = markup.named(POST).slice(0, MOST_POSTS);
  let past = 0;
  const posts = nodes.flatMap((node): Post[] => {
    if (node < past) return [];
    past = markup.tree.ends[node] as number;
    const text = fieldText(markup.textNamed(TEXT, 20_000, node), 20_000);
    if (text === null) return [];
    const [time] = markup.tagged('time', node);
    const written =
      time === undefined
        ? markup.textNamed(DATE, 60, node)
        : (markup.attribute(time, 'datetime') ?? elementText(markup.tree, time, 60));
    const mark = ` ${markup.attribute(node, 'class') ?? ''} `.toLowerCase();
    return [
      {
        author: fieldText(markup.textNamed(AUTHOR, 80, node)),
        publishedAt: FIELD_READERS.date(written, context),
        text,
        votes: FIELD_READERS.number(
          markup.textNamed(/[\s_-](?:vote-count|like-count|js-vote-count|likes)[\s_-]/, 20, node),
          context,
        ),
        isAnswer: /accepted|solution|best-answer/.test(mark),
      },
    ];
  });
  draft.give('posts', posts, 'markup', 0.65);
  draft.give('category', markup.textNamed(CATEGORY, 60), 'markup', 0.6);
  const tags = markup.firstNamed(TAGS);
  if (tags !== null)
    draft.give(
      'tags',
      markup.tagged('a', tags).map((node) => elementText(markup.tree, node, 60)),
      'markup',
      0.6,
    );
}
