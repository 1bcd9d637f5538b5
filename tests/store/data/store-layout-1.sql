BEGIN TRANSACTION;
CREATE TABLE candidate (
    id text primary key,
    source text not null,          -- hash of the data and the schema that it was made from
    recipe text not null,          -- with the seed: the owner's secret
    infeasible text,
    seconds real not null,
    made text not null,
    versions text not null default '{}'     -- of the method and its models, where not the first
);
INSERT INTO "candidate" VALUES('c8c47dc8e0','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 2}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,1.87763493811999069293e+02,'2026-11-16T11:11:06+00:00','{}');
INSERT INTO "candidate" VALUES('0a594f2f2d','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 3}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,3.44190899995737709105e-02,'2026-11-16T11:11:07+00:00','{}');
INSERT INTO "candidate" VALUES('a940397838','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 5}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}',NULL,2.3044493998895632103e-02,'2026-11-16T11:11:07+00:00','{}');
INSERT INTO "candidate" VALUES('bc6e6d160a','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"free": [], "model": {"k-anonymity": {"k": 100}}, "target": "", "variant": "strict"}, "sanitizer": "mondrian", "seed": 1}','k-anonymity with k = 100 cannot hold: with all 12 records in one class k is 12, the largest possible',2.1903189990553073585e-03,'2026-11-16T11:11:07+00:00','{}');
INSERT INTO "candidate" VALUES('b769206cfa','cb68e54f6517e4124d89df0b75ae8cb46975c5bcd364b1634c3c0da6f97a53f4','{"parameters": {"levels": {"age": 3, "sex": 1, "zip": 1}, "model": {"k-anonymity": {"k": 3}, "t-closeness": {"distance": "equal", "t": 0.5}}, "suppression": 0.0}, "sanitizer": "full-domain", "seed": 1}',NULL,1.45298269999329932034e-02,'2026-11-16T11:11:07+00:00','{}');
CREATE TABLE decision (
    candidate text not null,       -- its id when it was published
    folder text not null,
    facts text not null
);
CREATE TABLE fact (name text primary key, value text not null);
INSERT INTO "fact" VALUES('seed','1');
INSERT INTO "fact" VALUES('secret','e80b70216a9610fd745cfda468c59992934e4b68e395a6a547ab978542fdee05');
INSERT INTO "fact" VALUES('figures','{"measure general-loss": 2, "measure total-loss": 2}');
CREATE TABLE figure (
    key text primary key,          -- hash of all that the sums depend on
    facts text not null            -- added up over many records
);
CREATE TABLE measurement (
    candidate text not null references candidate (id) on delete cascade,
    asked text not null,           -- the measure with its parameters that are not at their defaults
    position integer not null,
    facts text not null,
    version integer not null default 1,     -- of the measure
    primary key (candidate, asked, position)
);
INSERT INTO "measurement" VALUES('c8c47dc8e0','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 2.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}',1);
INSERT INTO "measurement" VALUES('c8c47dc8e0','"t-closeness"',0,'{"measure": "t-closeness", "attribute": null, "value": 0.33333333333333337, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}',1);
INSERT INTO "measurement" VALUES('c8c47dc8e0','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.12457912457912457, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.15151515151515152, "zip": 0.2222222222222222, "sex": 0.0}}',2);
INSERT INTO "measurement" VALUES('0a594f2f2d','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 3.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}',1);
INSERT INTO "measurement" VALUES('0a594f2f2d','"t-closeness"',0,'{"measure": "t-closeness", "attribute": null, "value": 0.3333333333333333, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}',1);
INSERT INTO "measurement" VALUES('0a594f2f2d','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.5328282828282828, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.1818181818181818, "zip": 0.6666666666666666, "sex": 0.75}}',2);
INSERT INTO "measurement" VALUES('a940397838','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 6.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}',1);
INSERT INTO "measurement" VALUES('a940397838','"t-closeness"',0,'{"measure": "t-closeness", "attribute": null, "value": 0.16666666666666669, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}',1);
INSERT INTO "measurement" VALUES('a940397838','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.8181818181818182, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.45454545454545453, "zip": 1.0, "sex": 1.0}}',2);
INSERT INTO "measurement" VALUES('b769206cfa','"k-anonymity"',0,'{"measure": "k-anonymity", "attribute": null, "value": 4.0, "axis": "privacy", "better": "higher", "applicable": true, "interval": null, "baseline": null, "detail": {}}',1);
INSERT INTO "measurement" VALUES('b769206cfa','"t-closeness"',0,'{"measure": "t-closeness", "attribute": null, "value": 0.33333333333333337, "axis": "privacy", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"distance": "equal"}}',1);
INSERT INTO "measurement" VALUES('b769206cfa','"general-loss"',0,'{"measure": "general-loss", "attribute": null, "value": 0.6161616161616161, "axis": "utility", "better": "lower", "applicable": true, "interval": null, "baseline": null, "detail": {"age": 0.5151515151515151, "zip": 0.3333333333333333, "sex": 1.0}}',2);
CREATE TABLE proposal (
    search text not null,          -- hash of the search, its version and the data that it ran with
    position integer not null,
    recipe text not null,
    primary key (search, position)
);
INSERT INTO "proposal" VALUES('fc0d0c103fd111a7e1644df55a77f4bce20d525fa64b5f6b52cb9b1d4bfce170',0,'{"parameters": {"levels": {"age": 3, "sex": 1, "zip": 1}, "model": {"k-anonymity": {"k": 3}, "t-closeness": {"distance": "equal", "t": 0.5}}, "suppression": 0.0}, "sanitizer": "full-domain", "seed": null}');
CREATE TABLE reading (
    file text not null,            -- the data file
    described text not null,       -- hash of how the project reads it and what its attributes are
    state text not null,           -- its size and times when it was read
    source text not null,          -- what was read
    primary key (file, described)
);
CREATE TABLE renamed (former text primary key, id text not null);
COMMIT;
pragma user_version = 1;
